"""Device arguments of `torch.tpu` functions. One process sees one device: index 0."""

import torch

DeviceLike = torch.device | str | int | None


def device_index(device: DeviceLike = None) -> int:
    """The index meant by `device`; None means the current one.

    Raises ValueError for another device type and RuntimeError for an index other than 0.
    """
    if device is None:
        return 0
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != "tpu":
            raise ValueError(f"expected a tpu device, got {device}")
        index = device.index or 0
    else:
        index = int(device)
    if index not in (0, -1):
        raise RuntimeError(
            f"invalid device index {index} for tpu: one process sees one device, tpu:0. Start one "
            "process for each device (torchrun) to use more."
        )
    return 0
