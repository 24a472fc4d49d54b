# Reported cases whose expected values hold for CPU PyTorch too run on both devices.
import pytest
import torch
from support import DEVICE


@pytest.fixture(params=sorted({"cpu", DEVICE}))
def anywhere(request):
    return torch.device(request.param)
