"""Extras: what else has to be installed for a part of pesky that not everybody uses."""


def to_install(extra: str) -> str:
    """The command that installs the requirements of an extra, each by its own name.

    It works wherever pesky was installed from, and does not name pesky: a name of a package index is whoever's took it.
    """
    import importlib.metadata  # here, since it takes longer than most of what imports this

    every = (each.partition(";") for each in importlib.metadata.requires("pesky") or ())
    needed = [name.strip() for name, _, marker in every if f"extra == '{extra}'" in marker.replace('"', "'")]
    return " ".join(["pip install", *(f'"{each}"' for each in needed)])
