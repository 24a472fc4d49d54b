"""Benchmarks: `python -m bench.NAME` prints a table, then one line for each target, and exits 0."""
