"""Random number state of `torch.tpu`. The generator lives on the host: nothing here waits."""

from collections.abc import Iterable

import torch

from torch_tpu import _C
from torch_tpu._index import DeviceLike, device_index


def _generator(device: DeviceLike = None) -> torch.Generator:
    device_index(device)
    return _C._default_generator()


def get_rng_state(device: DeviceLike = "tpu") -> torch.Tensor:
    """State of the default generator as a CPU tensor of bytes."""
    return _generator(device).get_state()


def set_rng_state(new_state: torch.Tensor, device: DeviceLike = "tpu") -> None:
    """Puts the default generator into a state that `get_rng_state` returned."""
    _generator(device).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """States of all devices; a process has one."""
    return [get_rng_state()]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Inverse of `get_rng_state_all`."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seeds the default generator. Starts no client."""
    _generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Same as `manual_seed`: a process has one device."""
    manual_seed(seed)


def seed() -> int:
    """Seeds the default generator from the system's entropy and returns the seed."""
    return _generator().seed()


def seed_all() -> None:
    """Same as `seed`, without the result, as `torch.cuda.seed_all`."""
    seed()


def initial_seed() -> int:
    """The seed that the default generator was last given."""
    return _generator().initial_seed()
