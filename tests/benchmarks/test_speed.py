import torch

from benchmarks.ask_botorch import prepare_logei, prepare_qlognei
from benchmarks.ask_optuna import prepare_optuna
from benchmarks.case import Case, measure
from benchmarks.speed import ratios, tabulate
from benchmarks.timing import peak_memory


def test_measured_data_have_the_size_of_the_case_and_a_feasible_point():
    case = Case.parse("(10,2,3)")
    measured = measure(case)
    assert str(case) == "(10,2,3)"
    assert (measured.X.shape, measured.Y.shape) == ((10, 3), (10, 3))
    assert bool((measured.Y[:, 1:] >= 0).all(-1).any())
    assert torch.equal(measured.Y, measure(case).Y)


def test_every_peer_answers():
    measured = measure(Case(10, 1, 1))
    for prepare in (prepare_logei, prepare_qlognei, prepare_optuna):
        assert prepare(measured, 0)() is None


def test_table_has_a_line_per_rule():
    result = {"case": "(10,1,2)", "seconds": 0.5, "memory_mb": 321.4, "split": {}}
    results = [{**result, "rule": "pesc", "split": {"x*": 0.1}}, {**result, "rule": "optuna", "seconds": 0.2}]
    assert tabulate(results).row_count == 2
    assert ratios(results, results[0]) == ["2.50", ""]
    assert ratios(results, {**results[0], "case": "(30,2,2)"}) == ["", ""]
    assert peak_memory() > 10
