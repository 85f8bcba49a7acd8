"""What is imported when it is used, and not before, since it takes seconds."""

import gc
from importlib import import_module


def attribute(module: str, name: str) -> object:
    """What a module, imported now, has under this name.

    torch makes hundreds of thousands of objects that all stay. Python looks for garbage among them again and again as
    they become more, which takes a quarter of the import: here it does not, until all are there.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        found = import_module(module)
    finally:
        if is_enabled:
            gc.enable()
    return getattr(found, name)
