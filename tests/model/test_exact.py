"""A belief with exact rows: the rows of the measured belief untouched, the known ones exact, each in its place."""

import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP
from small_beliefs import difference_quotient, make_belief

from pesky import Choice, Integer, Problem, Real
from pesky.infer.gaussian import cholesky
from pesky.model.belief import Belief, Paths, anchored, for_hyper_samples
from pesky.model.botorch import BotorchBelief
from pesky.model.exact import ExactRow, WithExactRows, with_exact_rows, without_exact_rows
from pesky.model.gp import VARIANCE_FLOOR
from pesky.model.moments import mean_at_points
from pesky.observations import collect
from pesky.problem import Parameter
from pesky.space import Space
from pesky.space.exact import Exact

SPACE = Space({"x": Real(0, 1), "y": Real(0, 1)})
FIRST = ExactRow(Exact("f", lambda p: p["x"] ** 2 + 3 * p["y"], SPACE), 1.0, 1.0, 2.0)
SECOND = ExactRow(Exact("c", lambda p: p["x"] * p["y"], SPACE), -1.0, -0.25, 0.5)
PLACES = [(FIRST, None, None), (None, FIRST, None), (FIRST, None, SECOND, None), (None, None, FIRST, SECOND)]


def points(n: int, *batch: int) -> torch.Tensor:
    return torch.rand(*batch, n, 2, generator=torch.Generator().manual_seed(7))


def first(X: torch.Tensor) -> torch.Tensor:
    return (X[..., 0] ** 2 + 3 * X[..., 1] - 1) / 2


def botorch_belief() -> BotorchBelief:
    X = points(5)
    models = ModelListGP(*(SingleTaskGP(X, (k + X.sum(-1, keepdim=True)).sin()) for k in range(2)))
    return BotorchBelief.of(models, 0, False, {1: (0.0, None)})


def batch_of(count: int) -> Belief:
    """A belief with hyperparameter samples."""
    belief = make_belief()
    stretched = [torch.stack([part * (1 + 0.1 * s) for s in range(count)]) for part in belief.hyperparameters]
    h = type(belief.hyperparameters)(*stretched)
    return type(belief)(belief.kernel, belief.X, belief.y.expand(count, -1, -1), belief.mask, h)


INNER = {"gp": make_belief, "samples": lambda: batch_of(3), "botorch": botorch_belief}


@pytest.fixture(params=INNER)
def inner(request) -> Belief:
    return INNER[request.param]()


def places(known: tuple[ExactRow | None, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    is_known = torch.tensor([row is not None for row in known])
    return is_known.nonzero()[:, 0], (~is_known).nonzero()[:, 0]


@pytest.mark.parametrize("known", PLACES)
def test_every_row_is_in_its_place(inner, known):
    belief = WithExactRows(inner, known)
    assert isinstance(belief, Belief)
    exact, measured = places(known)
    batch = inner.amplitude.shape[:-1]
    X, Z = points(4, *batch), points(6, *batch)[..., 2:, :]
    for dim, what in [
        (-1, lambda b: b.amplitude),
        (-2, lambda b: b.lengthscale),
        (-1, lambda b: b.noise),
        (-1, lambda b: b.likelihoods.is_gaussian),
        (-2, lambda b: b.mean(X)),
        (-2, lambda b: b.variance(X)),
        (-3, lambda b: b.covariance(X, Z)),
    ]:
        torch.testing.assert_close(what(belief).index_select(dim, measured), what(inner))
    torch.testing.assert_close(belief.points, inner.points)
    torch.testing.assert_close(mean_at_points(belief), belief.mean(for_hyper_samples(belief, belief.points)))
    assert belief.amplitude[..., exact].eq(1).all()
    assert belief.noise[..., exact].eq(0).all()
    assert belief.likelihoods.is_gaussian[exact].all()
    # no exact row has a say in what is close
    torch.testing.assert_close(belief.lengthscale.amin(-2), inner.lengthscale.amin(-2))
    torch.testing.assert_close(belief.mean(X)[..., exact[0], :], first(X))
    if len(exact) > 1:
        torch.testing.assert_close(belief.mean(X)[..., exact[1], :], (0.25 - X[..., 0] * X[..., 1]) / 0.5)
    assert belief.variance(X)[..., exact, :].eq(VARIANCE_FLOOR).all()


def test_what_is_known_at_one_point_tells_nothing_of_another():
    belief = WithExactRows(make_belief(), (FIRST, None, None))
    X = points(5)
    K = belief.covariance(X, torch.cat([X[2:], X[:1] + 1e-12]))[0]
    expected = torch.zeros(5, 4)
    expected[2, 0] = expected[3, 1] = expected[4, 2] = VARIANCE_FLOOR
    torch.testing.assert_close(K, expected, rtol=0, atol=0)
    torch.testing.assert_close(belief.covariance(X, X).diagonal(dim1=-2, dim2=-1)[0], belief.variance(X)[0])
    assert cholesky(belief.covariance(X, X), belief.amplitude).isfinite().all()


@pytest.mark.parametrize("known", PLACES)
def test_a_view_sees_what_the_belief_says(inner, known):
    belief = WithExactRows(inner, known)
    batch = inner.amplitude.shape[:-1]
    P, X = points(5, *batch), points(8, *batch)[..., 3:, :]
    seen = belief.evaluator(P)(X)
    torch.testing.assert_close(seen.mean, belief.mean(X))
    torch.testing.assert_close(seen.variance, belief.variance(X))
    torch.testing.assert_close(seen.covariance, belief.covariance(P, X))
    anchors = anchored(belief, P)
    torch.testing.assert_close(anchors.evaluate(X), seen)
    torch.testing.assert_close(anchors.here, belief.evaluator(P)(P))
    assert (
        belief.evaluator(P)(P).covariance.diagonal(dim1=-2, dim2=-1)[..., places(known)[0], :].eq(VARIANCE_FLOOR).all()
    )


def test_the_mean_has_the_gradient_of_the_function():
    belief = WithExactRows(make_belief(), (None, FIRST, None))
    X = points(6).requires_grad_()
    (gradient,) = torch.autograd.grad(belief.mean(X)[1].sum(), X)
    torch.testing.assert_close(gradient, torch.stack([X[:, 0], torch.full((6,), 1.5)], -1).detach(), rtol=0, atol=1e-8)
    numeric = difference_quotient(lambda Z: belief.mean(Z).mT, X.detach())
    for row in range(3):
        (gradient,) = torch.autograd.grad(belief.mean(X)[row].sum(), X)
        torch.testing.assert_close(gradient, numeric[:, row], rtol=1e-5, atol=1e-6)
    (gradient,) = torch.autograd.grad(belief.evaluator(points(2))(X).mean[1].sum(), X)
    torch.testing.assert_close(gradient, numeric[:, 1], rtol=1e-5, atol=1e-6)


def test_the_gradient_of_another_row_costs_no_call():
    calls = []
    row = ExactRow(Exact("f", lambda p: calls.append(1) or p["x"] + p["y"], SPACE), 1.0, 0.0, 1.0)
    belief = WithExactRows(make_belief(), (row, None, None))
    X = points(6).requires_grad_()
    mean = belief.mean(X)
    calls.clear()
    torch.autograd.grad(mean[1].sum(), X, retain_graph=True)
    assert not calls
    torch.autograd.grad(mean[0].sum(), X)
    assert calls


def test_points_that_all_samples_share_are_looked_at_once():
    sizes = []
    row = ExactRow(Exact("f", lambda p: sizes.append(p["x"].size) or p["x"] + p["y"], SPACE), 1.0, 0.0, 1.0)
    row.outcome.__dict__["takes_arrays"] = True
    belief = WithExactRows(batch_of(3), (None, row, None))
    X = points(4).requires_grad_()
    mean = belief.mean(X.expand(3, 4, 2))
    assert sizes == [4]
    torch.testing.assert_close(mean[:, 1], X.sum(-1).expand(3, 4))
    (gradient,) = torch.autograd.grad(mean[:, 1].sum(), X)
    torch.testing.assert_close(gradient, torch.full((4, 2), 3.0))
    apart = points(4, 3)
    torch.testing.assert_close(belief.mean(apart)[:, 1], apart.sum(-1))


@pytest.mark.parametrize("known", PLACES)
def test_every_draw_has_the_known_rows_and_the_others_of_its_own(inner, known):
    belief = WithExactRows(inner, known)
    exact, measured = places(known)
    batch = inner.amplitude.shape[:-1]
    X = points(7, *batch)
    paths, drawn = (b.paths(7, torch.Generator().manual_seed(0)) for b in (belief, inner))
    assert isinstance(paths, Paths)
    values = paths.values(X)
    torch.testing.assert_close(values.index_select(-3, measured), drawn.values(X))
    torch.testing.assert_close(values[..., exact[0], :, :], first(X)[..., None, :].expand(*batch, 7, 7))
    value, gradient = paths.at(X)
    torch.testing.assert_close(value, values.diagonal(dim1=-2, dim2=-1))
    torch.testing.assert_close(gradient.index_select(-3, measured), drawn.at(X)[1])
    slope = torch.stack([X[..., 0], torch.full_like(X[..., 0], 1.5)], -1)
    torch.testing.assert_close(gradient[..., exact[0], :, :], slope, rtol=0, atol=1e-8)
    some = torch.tensor([5, 0, 3]).expand(*batch, 3)
    torch.testing.assert_close(paths.select(some).values(X), values.index_select(-2, torch.tensor([5, 0, 3])))
    assert not values.requires_grad


def test_between_lattice_points_a_known_row_is_constant():
    mixed: dict[str, Parameter] = {"x": Real(0, 1), "n": Integer(0, 3), "k": Choice(["a", "b"])}
    space = Space(mixed)
    row = ExactRow(Exact("f", lambda p: p["x"] + p["n"] + 10 * (p["k"] == "b"), space), 1.0, 0.0, 1.0)
    belief = WithExactRows(make_belief(rows=1, d=4), (row, None), space.snap)
    U = torch.rand(20, 4, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(belief.mean(U)[0], belief.mean(space.snap(U))[0])
    torch.testing.assert_close(belief.covariance(U, space.snap(U))[0], VARIANCE_FLOOR * torch.eye(20))
    _, gradient = belief.paths(20, torch.Generator().manual_seed(0)).at(U)
    torch.testing.assert_close(gradient[0], torch.tensor([1.0, 0, 0, 0]).expand(20, 4), rtol=0, atol=1e-8)


def test_without_known_outcomes_the_belief_is_left_as_it_is():
    belief = make_belief()
    o = collect(Problem(SPACE.parameters, minimize="f", constraints=["c >= 0", "d >= 0"]), SPACE, [])
    assert with_exact_rows(belief, o, ("f", "c", "d"), {}, None) is belief
    assert without_exact_rows(belief) is belief
    assert without_exact_rows(with_exact_rows(belief, o, ("f", "c", "d"), {"d": FIRST.outcome}, None)) is belief
