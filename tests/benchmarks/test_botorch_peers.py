"""BoTorch's optimizers as peers: that they ask and answer, their signs, and SCBO's trust region."""

import pytest
import torch

from benchmarks.peers import PEERS, botorch_peer, scbo
from benchmarks.peers.botorch_data import BotorchData
from benchmarks.peers.botorch_peer import logei, most_probable, qlognei
from benchmarks.peers.contest import contest, initial_points
from benchmarks.peers.results import Entry
from benchmarks.peers.scbo import SUCCESSES, Scbo, TrustRegion, best_of, perturbed
from pesky import Choice, Integer, Problem, Real
from pesky.errors import ProblemError
from pesky.test_functions import branin_disk, toy

NAMES = ["botorch-logei", "botorch-qlognei", "scbo"]


@pytest.fixture
def few(monkeypatch):
    """Fewer candidates and restarts: of the same kind, and quicker."""
    for name, value in (("RESTARTS", 2), ("RAW_SAMPLES", 8), ("MC_SAMPLES", 8)):
        monkeypatch.setattr(botorch_peer, name, value)
    monkeypatch.setattr(scbo, "CANDIDATES", 32)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_they_ask_and_answer(few, name, noise):
    benchmark = branin_disk(noise)
    peer = PEERS[name](benchmark.problem, 0, 5)
    asked = []
    for n in range(5):
        params = initial_points(benchmark.problem, 0, 3)[n] if n < 3 else peer.ask().params
        peer.tell(params, benchmark.evaluate(params, torch.Generator().manual_seed(n)))
        asked.append(params)
    assert asked[3] != asked[4]
    assert peer.answer() in asked


@pytest.mark.parametrize("name", NAMES)
def test_they_optimize(name):
    assert contest(Entry("toy", name, 0, 20, 3)).answers[20] < 0.02


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("parameter", "constraint", "words"), [
    (Choice(["a", "b"]), "c <= 1", "choices"),
    (Integer(0, 3), "c <= 1", "integers"),
    (Real(0, 1), "c is true", "a yes or no"),
])  # fmt: skip
def test_what_they_cannot_take_they_refuse(name, parameter, constraint, words):
    with pytest.raises(ProblemError, match=words):
        PEERS[name](Problem({"x": parameter}, minimize="f", constraints=[constraint]), 0, 5)


def line(is_minimized: bool, constraint: str, noise: float = 0.0) -> BotorchData:
    """The values of f = c = x, all over the line."""
    names = ("f", None) if is_minimized else (None, "f")
    problem = Problem({"x": Real(0, 1)}, *names, constraints=[constraint], noise=noise)
    data = BotorchData(problem, "this test")
    for x in torch.linspace(0, 1, 9).tolist():
        data.add({"x": x}, {"f": x, "c": x})
    return data


def test_limits_and_slacks_have_botorchs_signs():
    problem = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c <= 2", "c >= -1", "b >= 3"])
    data = BotorchData(problem, "this test")
    assert data.limits == {1: (-1.0, 2.0), 2: (3.0, None)}
    samples = torch.tensor([[0.0, 1.5, 4.0], [0.0, 2.5, 2.0]])
    held = torch.stack([each(samples) for each in data.slacks], -1) < 0
    assert held.tolist() == [[True, True, True], [False, True, False]]
    data.add({"x": 0.5}, {"f": 0.0, "c": 2.5, "b": 2.0})
    assert data.violations.tolist() == [[0.5, -3.5, 1.0]]


@pytest.mark.parametrize("build", [logei, qlognei])
@pytest.mark.parametrize(("is_minimized", "constraint", "better"), [
    (True, "c >= 0.44", 0.44),  # the best is just inside of the limit, whichever way
    (False, "c <= 0.56", 0.56),
])  # fmt: skip
def test_improvement_is_looked_for_where_it_is(build, is_minimized, constraint, better):
    data = line(is_minimized, constraint)
    acquisition = build(data, data.fitted(), 0)
    grid = torch.linspace(0, 1, 201, dtype=torch.float64)[:, None, None]
    with torch.no_grad():
        assert grid[acquisition(grid).argmax()].item() == pytest.approx(better, abs=0.04)


def test_with_noise_the_answer_is_the_best_that_is_likely_feasible():
    data = line(True, "c >= 0.44", noise=0.02)
    data.add({"x": 0.45}, {"f": -1.0, "c": 0.1})
    data.add({"x": 0.45}, {"f": 1.9, "c": 0.8})  # 0.45 on average, and not surely feasible
    assert most_probable(data, data.fitted())["x"] == 0.5


def test_the_trust_region_grows_with_successes_and_shrinks_with_failures():
    feasible, infeasible = torch.tensor([-1.0, -1.0]), torch.tensor([2.0, -1.0])
    region = TrustRegion(dim=2)
    region.update(5.0, infeasible)
    assert region.successes == 1  # nothing was known before
    region.update(9.0, infeasible)
    assert region.failures == 1  # a better value is none where the violation is the same
    region.update(-5.0, feasible)
    assert (region.successes, region.best) == (1, -5.0)
    for n in range(SUCCESSES - 1):
        region.update(float(n), feasible)
    assert (region.length, region.successes) == (1.6, 0)
    for _ in range(4):
        region.update(float(SUCCESSES - 2) + 1e-4, feasible)  # less than a thousandth better
    assert (region.length, region.failures) == (0.8, 0)
    region.length = 0.5**7 / 2
    assert region.is_spent


def test_the_center_is_the_best_feasible_point_or_the_least_infeasible():
    values = torch.tensor([1.0, 3.0, 2.0])
    assert best_of(values, torch.tensor([[-1.0], [0.5], [0.0]])) == 2
    assert best_of(values, torch.tensor([[1.0, -9.0], [0.5, 0.4], [2.0, 0.0]])) == 1


def test_every_candidate_differs_from_the_center():
    torch.manual_seed(0)
    mask = perturbed(500, 200)
    assert mask.any(-1).all()
    assert mask.sum(-1).double().mean().item() == pytest.approx(20, abs=1)
    assert perturbed(5, 3).all()


def test_a_region_that_is_spent_begins_anew_with_points_of_its_own(few):
    benchmark = toy()
    peer = Scbo(benchmark.problem, 0, 9)
    for params in initial_points(benchmark.problem, 0, 3):
        peer.tell(params, benchmark.evaluate(params))
    params = peer.ask().params
    peer.tell(params, benchmark.evaluate(params))
    assert peer.region is not None
    peer.region.length = 1e-3
    for n in range(4):
        params = peer.ask().params
        peer.tell(params, benchmark.evaluate(params))
        assert len(peer.own.points) == n + 1
    assert peer.region.length == 0.8
    assert len(peer.all.points) == 8
