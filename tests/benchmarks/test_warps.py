import json

from benchmarks.warps import main


def test_gaps_with_and_without_warps_are_printed(capsys, tmp_path):
    main(["--problem", "toy", "--seeds", "1", "--evaluations", "3", "--json", str(tmp_path / "runs.json")])
    (run,) = json.loads((tmp_path / "runs.json").read_text())["runs"]
    assert run["plain"] == run["warped"] >= 0  # three values of each outcome speak for no warp
    assert "toy" in capsys.readouterr().out
