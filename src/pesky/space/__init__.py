"""The user's values <-> the unit cube: log scales, integers, choices."""

from pesky.space.space import Space

__all__ = ["Space"]
