"""Tests that a store of your own inherits; pytest and hypothesis are needed for nothing else."""

import pytest

pytest.register_assert_rewrite("pesky.testing.contract", "pesky.testing.crowd", "pesky.testing.machine")

from pesky.testing.contract import StoreContract  # noqa: E402 (its asserts are rewritten only if it comes after)
from pesky.testing.machine import StoreMachine  # noqa: E402

__all__ = ["StoreContract", "StoreMachine"]
