import pytest

from benchmarks.batches import main


def test_it_prints_a_line_for_each_way(capsys: pytest.CaptureFixture[str]):
    main(["--functions", "1", "--count", "2", "--initial", "4", "--dim", "1"])
    printed = capsys.readouterr().out
    assert "2 questions after 4 evaluations" in printed
    assert all(way in printed for way in ("one at a time", "at once", "random"))
