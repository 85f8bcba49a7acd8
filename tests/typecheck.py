"""The types and shapes of the package's functions, checked while the tests run.

To check every call took two thirds of the processor time of a test that runs a study. Therefore the first calls of each
function in every file of tests are checked, and ever fewer of the later ones: no function goes unchecked.
"""

from collections import Counter
from functools import partial, wraps

import jaxtyping
from beartype import BeartypeConf, beartype

FIRST = 8  # as often as a test of a single function calls it; a decision calls some of them ten thousand times

# as to any type checker, an int is also a float
check = beartype(conf=BeartypeConf(is_pep484_tower=True))
always = jaxtyping.jaxtyped
calls = Counter()


def install(rooms: list[str]) -> None:
    """Check these parts of the package, once they are imported."""
    jaxtyping.jaxtyped = sometimes  # the name that the import hook decorates with
    jaxtyping.install_import_hook(rooms, "typecheck.check")


def sometimes(given=None, *, typechecker):
    """What `jaxtyped` does to a function or to the constructor of a dataclass, but not in every call."""
    if given is None:
        return partial(sometimes, typechecker=typechecker)
    if not isinstance(given, type):
        return either(given, always(given, typechecker=typechecker))
    if hasattr(given, "__post_init__"):
        return given  # rules and their options answer wrong types with errors of their own
    plain = given.__init__
    always(given, typechecker=typechecker)
    if given.__init__ is not plain:
        given.__init__ = either(plain, given.__init__)
    return given


def either(plain, checked):
    """A function that is checked in the first calls of a file, and then in the 16th, the 32nd, the 64th, ..."""

    @wraps(plain)
    def wrapped(*args, **kwargs):
        calls[wrapped] += 1
        count = calls[wrapped]
        return (checked if count <= FIRST or count & (count - 1) == 0 else plain)(*args, **kwargs)

    return wrapped
