"""The README's table: every number of it comes from one run of `python -m benchmarks.readme`."""
