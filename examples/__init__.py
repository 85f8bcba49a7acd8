"""Examples: each one runs, `python -m examples.NAME`."""
