"""Tests that a store or a rule of your own inherits; pytest and hypothesis are needed for nothing else."""

import pytest

_WITH_ASSERTS = ("acquisition", "asking", "contract", "crowd", "machine")
pytest.register_assert_rewrite(*(f"pesky.testing.{name}" for name in _WITH_ASSERTS))

from pesky.testing.contract import StoreContract  # noqa: E402 (its asserts are rewritten only if it comes after)
from pesky.testing.machine import StoreMachine  # noqa: E402
from pesky.testing.rules import RuleContract  # noqa: E402

__all__ = ["RuleContract", "StoreContract", "StoreMachine"]
