import json
import math
from collections.abc import Callable

import pytest

from benchmarks import workers
from benchmarks.contenders import CONTENDERS, sort_out
from benchmarks.rules import main
from benchmarks.runs import INITIAL, Plan, Run, build_study, optimize
from benchmarks.summary import summarize, tabulate
from pesky.errors import ProblemError
from pesky.model import GaussianProcess
from pesky.test_functions import problem_by_name

MADE_UP = ["--problem", "toy", "--evaluations", "15", "--workers", "1"]


def finished(rule: str, seed: int, gap: float) -> Run:
    """A run whose gap is 1 up to 9 evaluations and `gap` from then on."""
    counts = list(range(INITIAL, 16))
    gaps = [1.0 if n < 10 else gap for n in counts]
    return Run(
        Plan("toy", rule, seed, 15),
        counts,
        gaps,
        is_feasible=[gap < 0.05] * len(gaps),
        ask_seconds=[0.5, 1.5],
        recommend_seconds=[0.1],
        fit_seconds=[0.2, 0.4],
    )


def test_summary_of_runs():
    figures = summarize([finished("pesc", seed, gap) for seed, gap in enumerate([0.1, 0.002, 0.001])])
    assert figures.median == {10: 0.002, 15: 0.002}
    assert figures.mean[15] == pytest.approx(0.103 / 3)
    assert figures.error[10] is not None
    assert figures.error[10] > 0
    assert figures.infeasible == pytest.approx(1 / 3)
    assert figures.first_below == 10
    assert (figures.ask, figures.recommend, figures.fit) == pytest.approx((1.0, 0.1, 0.3))


def test_a_rule_that_never_gets_there_says_so():
    runs = [finished("pesc", 0, 0.5)]
    assert summarize(runs).first_below is None
    table = tabulate([summarize(runs)], runs[0].plan)
    cells = [list(column.cells) for column in table.columns]
    assert cells[0] == ["pesc (1 run)", "", ""]
    assert cells[2:4] == [["0.5", "-", "0.5"]] * 2  # of one run the bootstrap knows no error
    assert [column[0] for column in cells[4:]] == ["100%", "never", "1.000", "0.100", "0.300"]


def pretend(monkeypatch, stop: Callable[[Plan], BaseException | None]) -> list[Plan]:
    """Lets runs be made up; returns those begun, as they begin. `stop` may give an error for one to end with."""
    begun = []

    def optimize(plan: Plan) -> Run:
        begun.append(plan)
        if error := stop(plan):
            raise error
        return finished(plan.rule, plan.seed, 0.1)

    monkeypatch.setattr(workers, "optimize", optimize)
    return begun


def test_an_interrupted_benchmark_goes_on_from_its_file(tmp_path, capsys, monkeypatch):
    file = tmp_path / "runs.json"
    wanted = [*MADE_UP, "--rules", "random,sobol", "--seeds", "2", "--json", str(file)]
    last = Plan("toy", "sobol", 1, 15)
    pretend(monkeypatch, lambda plan: KeyboardInterrupt() if plan == last else None)
    with pytest.raises(KeyboardInterrupt):
        main(wanted)
    kept = json.loads(file.read_text())["runs"]
    assert [(run["plan"]["rule"], run["plan"]["seed"]) for run in kept] == [("random", 0), ("sobol", 0), ("random", 1)]

    begun = pretend(monkeypatch, lambda plan: None)
    assert main(wanted) == 0
    first = capsys.readouterr().out
    assert main(wanted) == 0
    assert capsys.readouterr().out == first
    assert begun == [last]
    assert "random (2 runs)" in first
    written = json.loads(file.read_text())
    assert written["runs"][:3] == kept
    assert [(figures["rule"], figures["runs"]) for figures in written["summary"]] == [("random", 2), ("sobol", 2)]


def test_a_run_that_fails_is_reported_leaves_the_others_alone_and_is_tried_again(tmp_path, capsys, monkeypatch):
    file = tmp_path / "runs.json"
    wanted = [*MADE_UP, "--rules", "random", "--seeds", "3", "--json", str(file)]
    pretend(monkeypatch, lambda plan: ValueError("not positive definite") if plan.seed == 1 else None)
    assert main(wanted) == 1
    shown = capsys.readouterr().out
    assert "random (2 runs)" in shown
    assert "failed: toy, random, seed 1: ValueError: not positive definite (test_rules.py:" in shown
    assert "in optimize" in json.loads(file.read_text())["failures"][0]["traceback"]

    begun = pretend(monkeypatch, lambda plan: None)
    assert main(wanted) == 0
    assert [plan.seed for plan in begun] == [1]
    assert "failures" not in json.loads(file.read_text())


def test_real_runs_end_in_a_table_a_file_and_a_figure(tmp_path, capsys):
    paths = [str(tmp_path / name) for name in ("runs.json", "curves.png")]
    shared = ["--rules", "pes,random", "--seeds", "1", "--evaluations", "4", "--workers", "1"]
    assert main(["--problem", "toy,gardner1", *shared, "--json", paths[0], "--figure", paths[1]]) == 0
    shown = capsys.readouterr().out
    assert "toy: without pes: the rule 'pes' is for problems without constraints" in shown
    assert "Utility gap on gardner1 after n evaluations" in shown
    assert [len(run["gaps"]) for run in json.loads((tmp_path / "runs.json").read_text())["runs"]] == [2, 2]
    assert (tmp_path / "curves.png").stat().st_size > 10_000


def test_a_process_finds_what_we_find_here():
    plan = Plan("toy", "random", 0, 4)
    (there,) = workers.run_all([plan], 2)
    (here,) = workers.run_all([plan], 1)
    assert isinstance(there, Run)
    assert isinstance(here, Run)
    assert there.asked == here.asked
    assert there.gaps == pytest.approx(here.gaps, rel=1e-6)  # torch's default dtype differs in tests, and shows


def test_rules_that_value_all_outcomes_together_leave_out_problems_of_several_tasks():
    labels = ["pesc", "eic", "eic-decoupled"]
    suited, skipped = sort_out(labels, problem_by_name("gardner2-costs"), is_decoupled=False)
    assert suited == ["pesc", "eic-decoupled"]
    assert skipped == {"values all outcomes together, and the problem has several tasks": ["eic"]}


def test_rules_that_do_not_suit_are_left_out_with_the_reason():
    labels = ["pesc", "pes", "eic", "al-known", "random"]
    suited, skipped = sort_out(labels, problem_by_name("gp1"), is_decoupled=False)
    assert suited == ["pesc", "eic", "random"]
    assert [("without constraints" in why, names) for why, names in skipped.items()] == [
        (True, ["pes"]),
        (False, ["al-known"]),
    ]
    suited, skipped = sort_out(list(CONTENDERS), problem_by_name("hartmann6"), is_decoupled=True)
    assert {"pesc", "pesc-paper", "sobol", "random"} <= set(suited)
    assert "rs" not in suited
    assert any({"eic", "eic-plain", "botorch-logei"} <= set(names) for names in skipped.values())


@pytest.mark.parametrize("label", CONTENDERS)
def test_every_contender_can_be_built(label):
    assert CONTENDERS[label].build().measures in ("each", "together")


def test_names_are_checked_before_anything_runs(capsys):
    for wrong, message in ((["--rules", "pecs"], "unknown rules pecs"), (["--problem", "gp0"], "'gp0'")):
        with pytest.raises(SystemExit):
            main(wrong)
        assert message in capsys.readouterr().err
    with pytest.raises(ProblemError):
        optimize(Plan("gp0", "random", 0, 3))


def test_rules_start_from_the_same_measurements():
    runs = [optimize(Plan("toy", rule, 0, 4)) for rule in ("botorch-logei", "sobol")]
    assert runs[0].asked[:INITIAL] == runs[1].asked[:INITIAL]
    assert runs[0].gaps[0] == runs[1].gaps[0]
    assert runs[0].asked[INITIAL:] != runs[1].asked[INITIAL:]


def test_drawn_functions_are_believed_to_be_what_they_were_drawn_from():
    study = build_study(problem_by_name("gp1", 0), "random", 0)
    study.add({"x1": 0.5}, {"f": 0.0, "c1": 1.0})
    belief = study.belief()
    assert isinstance(belief, GaussianProcess)
    lengthscale, noise = belief.lengthscale.flatten(), (belief.noise / belief.amplitude).flatten()
    assert (lengthscale.tolist(), noise.tolist()) == (pytest.approx([0.1] * 2), pytest.approx([0.01] * 2))


def test_decoupled_runs_count_joint_evaluations():
    run = optimize(Plan("toy", "random", 0, 5, is_decoupled=True))
    assert run.counts == [3, 4, 5]
    assert [len(outcomes) for _, outcomes in run.asked] == [3] * INITIAL + [1] * 6
    assert (len(run.ask_seconds), len(run.recommend_seconds), len(run.fit_seconds)) == (6, 3, 7)


def test_rare_recommendations_ask_the_same_and_never_miss_a_milestone():
    assert [n for n in range(3, 13) if Plan("toy", "random", 0, 12, every=4).recommends_at(n)] == [3, 4, 8, 10, 12]
    often, rarely = (optimize(Plan("toy", "random", 0, 5, every=every)) for every in (1, 9))
    assert rarely.counts == [3, 5]
    assert rarely.asked == often.asked
    assert rarely.gaps == [often.gap_at(n) for n in rarely.counts]


def test_the_known_objective_is_not_measured():
    run = optimize(Plan("toy", "al-known", 0, 4))
    assert [outcomes for _, outcomes in run.asked] == [["c1", "c2"]] * 4
    assert all(math.isfinite(gap) for gap in run.gaps)
