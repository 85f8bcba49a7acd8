"""The search for the answer beside longer ones, as a command."""

import pytest

from benchmarks import answers
from benchmarks.case import Case


def test_a_search_is_compared_with_a_longer_one():
    gap, seconds = answers.search(Case(12, 2, 2), 0)
    assert gap == pytest.approx(0.0, abs=1e-4)
    assert seconds > 0


def test_the_command_prints_a_line_for_each_size(capsys):
    answers.main(["--case", "12,1,1", "--seeds", "2"])
    printed = capsys.readouterr().out
    assert "(12,1,1)" in printed
    assert "0 of 2" in printed
