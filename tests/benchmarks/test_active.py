import json

import pytest

from benchmarks.active import main, resting_on
from pesky.model import through
from pesky.optimum import active_set


def test_beliefs_rest_on_fewer_values_only_while_that_is_wanted():
    usual = through.EXACT, active_set.KEPT
    with resting_on(20):
        assert (through.EXACT, active_set.KEPT) == (20, 20)
    assert usual == (through.EXACT, active_set.KEPT)


def test_it_prints_what_each_way_loses(capsys: pytest.CaptureFixture[str], tmp_path):
    file = tmp_path / "found.json"
    given = ["--problems", "1", "--values", "40", "--dims", "1", "--kept", "20", "--json", str(file)]
    main(given)
    printed = capsys.readouterr().out
    assert "40 values of each outcome" in printed
    found = json.loads(file.read_text())["results"]
    assert [each["way"] for each in found] == ["exact", "active", "alone", "evenly"] * 2
    exact = found[0]
    assert (exact["mean off by"], exact["variance"], exact["question"]) == pytest.approx((0, 1, 1), abs=1e-9)
