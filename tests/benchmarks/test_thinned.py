import pytest

from benchmarks.thinned import at_most, main
from pesky.model import surrogate


def test_fits_are_of_fewer_values_only_while_they_are_wanted():
    usual = surrogate.MOST
    with at_most(20):
        assert surrogate.MOST == 20
    assert usual == surrogate.MOST


def test_it_prints_what_both_are_worth(capsys: pytest.CaptureFixture[str]):
    main(["--functions", "1", "--values", "30,12", "--dim", "1", "--held-out", "4"])
    printed = capsys.readouterr().out
    assert "30,12 values of the outcomes" in printed
    assert "400" in printed
    assert "all" in printed
