"""Modules as text, StableHLO or optimised HLO: compared (`diff`) and shown by operator (`show`).

`python -m torch_tpu.hlo diff A B` and `python -m torch_tpu.hlo show FILE`.
"""

from torch_tpu.hlo.canonical import BadModule, canonical, same

__all__ = ["BadModule", "canonical", "same"]
