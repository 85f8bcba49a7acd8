"""The command line: `pesky run`, `ask`, `tell`, `recommend` and what belongs to them.

Modules here import what computes (torch) or keeps (SQLAlchemy) only inside the commands that need it, so that help and
checks come at once.
"""

from pesky.cli.app import app

__all__ = ["app"]
