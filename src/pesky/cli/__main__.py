"""`python -m pesky.cli` is `pesky`."""

from pesky.cli.app import app

app(prog_name="pesky")
