"""Numbers for people."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes: "1.50 GiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            return f"{count:.0f} B" if unit == "B" else f"{count:.2f} {unit}"
        count /= 1024
    raise AssertionError("unreachable")


def count(number: float) -> str:
    """Large counts: "33.8 G"."""
    for unit in ("", "k", "M", "G", "T"):
        if abs(number) < 1000 or unit == "T":
            return f"{number:.0f}" if unit == "" else f"{number:.3g} {unit}"
        number /= 1000
    raise AssertionError("unreachable")


def duration(seconds: float) -> str:
    """Times: "2.05 us"."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale or unit == "us":
            return f"{seconds / scale:.3g} {unit}"
    raise AssertionError("unreachable")
