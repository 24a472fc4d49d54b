"""Operators that stay missing on purpose: families of other kinds of tensors, each with a reason.

A row counts only for operators that nothing else resolves, so a row too many hides nothing that
works.
"""

from fnmatch import fnmatchcase

FAMILIES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "quantised",
        "makes or takes tensors of a quantised dtype, which this device does not hold; fake "
        "quantisation in plain floats is there",
        (
            "_empty_affine_quantized",
            "_empty_per_channel_affine_quantized",
            "_make_per_*_quantized_tensor",
            "dequantize",
            "quantize_per_*",
            "quantized_*",
        ),
    ),
    (
        "sparse",
        "makes or takes tensors of a sparse layout, which this device does not hold",
        ("_to_sparse*", "_spdiags", "_validate_compressed_sparse_indices", "sspaddmm", "_sparse_*"),
    ),
    (
        "nested",
        "makes or takes nested tensors of strided layout; jagged ones are made of dense operators",
        ("_nested_*",),
    ),
    ("mkldnn", "a layout and kernels of oneDNN on the CPU", ("mkldnn_*", "to_mkldnn")),
    ("fbgemm", "weights packed for FBGEMM's kernels on the CPU", ("fbgemm_*",)),
    (
        "int4 packing",
        "weights packed as 4-bit integers for kernels of the CPU",
        ("_convert_weight_to_int4pack*", "_dyn_quant_*4bit*", "_weight_int4pack_mm*"),
    ),
    ("test only", "exists for PyTorch's own tests", ("_foobar", "_test_*")),
)


def reason(base: str) -> str | None:
    """Family and reason for which the operator of this base name is left out, or None."""
    for family, why, patterns in FAMILIES:
        if any(fnmatchcase(base, pattern) for pattern in patterns):
            return f"{family}: {why}"
    return None
