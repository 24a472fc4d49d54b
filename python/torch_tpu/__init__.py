"""The `tpu` device of PyTorch: registers it, and nothing else.

`import torch` alone is enough, through the entry point group `torch.backends`. No device client is
started here; the first tensor on `tpu` does that.
"""

import atexit
import os
import sys
import warnings
from typing import Any

__version__ = "0.1.0"

_AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
_TORCH_RELEASE = "2.13."


def _autoload() -> None:
    """Entry point that `import torch` calls. The work was done when this module was imported."""


def _import_torch() -> Any:
    """Imports torch with autoload off: it would come back here, into a half-imported module.

    The variable is restored at once, so child processes see what the user set.
    """
    previous = os.environ.get(_AUTOLOAD)
    os.environ[_AUTOLOAD] = "0"
    try:
        import torch
    finally:
        if previous is None:
            del os.environ[_AUTOLOAD]
        else:
            os.environ[_AUTOLOAD] = previous
    return torch


def _shut_down() -> None:
    """Stores what is still to be stored, within a limit, and closes the client."""
    from torch_tpu import _C, _cache_remote

    _C._shutdown()
    _cache_remote.close()


def _register() -> None:
    """Makes `tpu` a device of this process. Runs once; `import torch` survives a failure."""
    torch = _import_torch()
    release = torch.__version__
    if not release.startswith(_TORCH_RELEASE):
        warnings.warn(
            f"torchtpu {__version__} is built for torch {_TORCH_RELEASE}* and this is torch "
            f"{release}: the tpu device is not registered. Install torch=={_TORCH_RELEASE}*, or a "
            f"torchtpu built for {release}.",
            stacklevel=2,
        )
        return
    from torch.utils import backend_registration

    backend_registration.rename_privateuse1_backend("tpu")
    from torch_tpu import _C

    _C._init()
    _C._set_frontend_version(release)
    from torch_tpu import (
        _compile_progress,
        _decompositions,
        _device,
        _plugins,
        _precision,
        _printing,
    )

    _C._set_decomposition_lookup(_decompositions.lookup)
    _C._set_plugin_candidates(_plugins.candidates())
    torch._register_device_module("tpu", _device)
    sys.modules["torch.backends.tpu"] = torch.backends.tpu = _precision.backend
    # Plugins crash when the process ends under work that is still running.
    atexit.register(_shut_down)
    backend_registration.generate_methods_for_privateuse1_backend(for_storage=True)
    # TPUs multiply bfloat16. PyTorch keeps this per thread: others start with float16.
    torch.set_autocast_dtype("tpu", torch.bfloat16)
    _printing.install()
    _compile_progress.install()
    _device.compilation_cache.open_root()


_register()
