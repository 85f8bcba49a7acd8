"""The checker of types and shapes that the tests install on the package."""

from beartype import BeartypeConf, beartype

# as to any type checker, an int is also a float
check = beartype(conf=BeartypeConf(is_pep484_tower=True))
