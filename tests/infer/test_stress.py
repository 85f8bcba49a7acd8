"""EP under stress: no exception, nothing that is not finite, in situations of every kind."""

import json

from benchmarks.report import console
from benchmarks.stress import main, run_all, situation, tabulate


def test_runs_of_every_kind_stay_finite():
    results = run_all(800)
    console.print(tabulate(results))
    runs = sum(outcome.runs for _, outcome in results)
    assert runs >= 800
    assert [s for s, outcome in results if not outcome.is_finite] == []
    # stopping early is safe, and stays rare
    assert sum(outcome.stopped for _, outcome in results) <= 0.01 * runs
    assert sum(outcome.unconverged for _, outcome in results) <= 0.02 * runs


def test_situations_cover_every_size_and_repeat():
    seen = [situation(seed) for seed in range(300)]
    assert {s.K for s in seen} == set(range(7))
    assert {s.d for s in seen} == set(range(1, 7))
    assert min(s.N for s in seen) == 1
    assert max(s.N for s in seen) == 60
    assert {s.is_decoupled for s in seen} == {s.is_repeated for s in seen} == {True, False}
    assert situation(17) == situation(17)


def test_the_command_prints_a_table_and_writes_the_same_as_data(tmp_path, capsys):
    file = tmp_path / "stress.json"
    main(["--runs", "20", "--json", str(file)])
    assert "EP under stress" in capsys.readouterr().out
    results = json.loads(file.read_text())["results"]
    assert sum(result["runs"] for result in results) >= 20
