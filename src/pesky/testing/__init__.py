"""Tests that a store or a rule of your own inherits; pytest and hypothesis are needed for nothing else."""

import pytest

pytest.register_assert_rewrite("pesky.testing.acquisition", "pesky.testing.asking", "pesky.testing.store")

from pesky.testing.rules import RuleContract  # noqa: E402 (asserts are rewritten only of what is imported later)
from pesky.testing.store.contract import StoreContract  # noqa: E402
from pesky.testing.store.machine import StoreMachine  # noqa: E402

__all__ = ["RuleContract", "StoreContract", "StoreMachine"]
