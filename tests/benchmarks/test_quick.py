import json

from benchmarks.quick import main, measure_run, tabulate


def test_quick_functions_get_quick_decisions(tmp_path, capsys):
    path = tmp_path / "quick.json"
    main(["--evaluations", "12", "--milliseconds", "1", "--seeds", "1", "--shares", "0.5", "--json", str(path)])
    runs = json.loads(path.read_text())["runs"]
    assert [run["share"] for run in runs] == [None, 0.5]
    assert runs[0]["decisions"] == {"full": 9, "update": 0, "thompson": 0}
    assert runs[1]["decisions"]["thompson"] > 5
    assert runs[1]["deciding"] < runs[0]["deciding"]
    assert "all full" in capsys.readouterr().out


def test_a_share_that_allows_everything_decides_in_full():
    result = measure_run(1e6, 0, 6, 1.0)
    assert result.decisions == {"full": 3, "update": 0, "thompson": 0}
    assert tabulate([result], 6, 1.0).row_count == 1
