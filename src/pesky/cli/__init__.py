"""The command line: `pesky run`, `ask`, `tell`, `recommend` and what belongs to them.

Modules here import what computes (torch) or keeps (SQLAlchemy) only inside the commands that need it, so that help and
checks come at once.
"""

import atexit
import gc

# What a short command imports are a hundred thousand objects that stay to its end. To look for garbage among them at
# every 700th, as is the default, takes a tenth of its time, and to look once more before the process ends a fifth.
gc.set_threshold(50_000, *gc.get_threshold()[1:])
atexit.register(gc.freeze)

from pesky.cli.app import app  # noqa: E402

__all__ = ["app"]
