"""Shapes are checked while the tests run: in the first calls of each function in every file, and in some later ones."""

import pytest
import torch
import typecheck
from jaxtyping import TypeCheckError

from pesky.infer.gaussian import truncation
from pesky.model.kernel import correlation

COLUMN, ROW = torch.rand(3, 1), torch.rand(1, 2)  # as shapes `*b` they are at odds; torch broadcasts


def test_a_wrong_shape_or_type_is_noticed():
    with pytest.raises(TypeCheckError, match="truncation"):
        truncation(COLUMN, ROW)
    with pytest.raises(TypeCheckError, match="correlation"):
        correlation("cubic", COLUMN)  # pyright: ignore[reportArgumentType]


def test_the_first_calls_are_checked_and_then_ever_fewer():
    typecheck.calls.clear()
    noticed = []
    for call in range(1, 70):
        try:
            truncation(COLUMN, ROW)
        except TypeCheckError:
            noticed.append(call)
    assert noticed == [*range(1, 9), 16, 32, 64]
