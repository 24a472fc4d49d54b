# Reported cases, part A7: random numbers.
import torch
import torch.nn.functional as F
from support import ON_TPU, tpu_only
from torch import nn
from torch.utils.checkpoint import checkpoint


def test_case_097_seeding(anywhere):
    torch.manual_seed(0)
    first, second = torch.rand(5, device=anywhere), torch.rand(5, device=anywhere)
    torch.manual_seed(0)
    again = torch.rand(5, device=anywhere)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


@tpu_only
def test_case_097_state_replays():
    state = torch.tpu.get_rng_state()
    a, b = torch.randn(4, device="tpu"), torch.randn(4, device="tpu")
    torch.tpu.set_rng_state(state)
    assert torch.equal(torch.randn(4, device="tpu").cpu(), a.cpu())
    assert torch.equal(torch.randn(4, device="tpu").cpu(), b.cpu())


def test_case_099_dropout_gradient_is_zero_where_dropped(anywhere):
    x = torch.ones(64, 64, device=anywhere, requires_grad=True)
    out = F.dropout(x, 0.4)
    out.sum().backward()
    assert torch.equal(out.detach() == 0, x.grad == 0)
    kept = (out != 0).sum().item() / 4096
    assert 0.55 < kept < 0.65


def test_case_100_checkpoint_replays_dropout(device):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 8)).to(device)
    x = torch.randn(4, 8).to(device)

    def gradients(run):
        torch.manual_seed(3)
        model.zero_grad()
        run(x).pow(2).sum().backward()
        return [p.grad.clone() for p in model.parameters()]

    plain = gradients(model)
    for reentrant in (False, True):
        held = x.clone().requires_grad_()
        saved = gradients(lambda _, h=held, r=reentrant: checkpoint(model, h, use_reentrant=r))
        for a, b in zip(plain, saved, strict=True):
            torch.testing.assert_close(a, b)
    if ON_TPU:
        assert plain[0].device.type == "tpu"
