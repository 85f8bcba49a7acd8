"""`python -m pesky`, where the command `pesky` is not on the path."""

from pesky.cli import app

app(prog_name="pesky")
