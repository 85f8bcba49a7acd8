"""From observations to a belief: by maximum, by slice sampling, or at known hyperparameters."""

import math

import pytest
import torch
from small_beliefs import hyperparameters

from pesky import GP, Choice, FixedHyperparameters, Integer, Problem, ProblemError, Real
from pesky.likelihood.probit import YES_NO_NOISE
from pesky.likelihood.rows import PROBIT
from pesky.model import GaussianProcess, fit
from pesky.model.evidence import MarginalLikelihood
from pesky.model.latent import pseudo_measurements
from pesky.model.surrogate import _is_surprised, scaled
from pesky.observations import Observations, collect
from pesky.problem import Task
from pesky.space import Space

PROBLEM = Problem(
    {"x": Real(0, 1), "y": Real(0, 1)}, maximize="gain", constraints=["heat <= 40", "gain >= -3"], noise={"gain": 0.1}
)


def observations(problem: Problem = PROBLEM, n: int = 7):
    space = Space.of(problem)
    g = torch.Generator().manual_seed(0)
    U = space.snap(torch.rand(n, space.dim, generator=g))
    rows = [(u, {"gain": float(5 * u.sum()), "heat": float(60 * u[0])}) for u in U]
    return collect(problem, space, [*rows[:-1], (rows[-1][0], {"heat": 12.0})])


KNOWN = {
    "gain": FixedHyperparameters(lengthscale=0.4, amplitude=9.0, noise=0.01, mean=2.0),
    "heat": FixedHyperparameters(lengthscale=(0.2, 0.7), amplitude=400.0, noise=0.0, mean=25.0),
}


def test_known_hyperparameters_are_scaled_to_each_row():
    o = observations()
    h = scaled(KNOWN, o, PROBLEM.rows)
    torch.testing.assert_close(h.lengthscale, torch.tensor([[0.4, 0.4], [0.2, 0.7]]))
    torch.testing.assert_close(h.amplitude * o.scale.square(), torch.tensor([9.0, 400.0]))
    torch.testing.assert_close((h.noise * o.scale.square())[0], torch.tensor(0.01))
    assert 0 < h.noise[1] < 1e-9
    for row, mean in enumerate((2.0, 25.0)):
        assert o.to_user(row, h.mean[row]).item() == pytest.approx(mean)


def test_a_known_belief_predicts_in_user_units():
    o = observations()
    belief = GP(kernel="se", hyperparameters=KNOWN).fit(o, PROBLEM.rows, None, None, torch.Generator())
    far = torch.tensor([[40.0, 40.0]])
    assert o.to_user(0, belief.mean(far)[0]).item() == pytest.approx(2.0)
    assert o.to_user(1, belief.mean(far)[1]).item() == pytest.approx(25.0)
    # the heat is measured without noise
    at = o.X[1][o.mask[1]]
    torch.testing.assert_close(belief.mean(at)[1], o.y[1][o.mask[1]], rtol=0, atol=1e-3)


def test_by_maximum_there_is_no_sample_dimension_and_given_noise_is_kept():
    o = observations()
    belief = GP().fit(o, PROBLEM.rows, None, None, torch.Generator())
    assert belief.amplitude.shape == (2,)
    torch.testing.assert_close(belief.noise[0], o.noise[0])
    assert belief.kernel == "matern52"


def test_by_slice_sampling_the_samples_lead_and_continue_from_the_previous():
    o = observations()
    model = GP(hyperparameters="slice", samples=4)
    first = model.fit(o, PROBLEM.rows, None, None, torch.Generator().manual_seed(0))
    assert first.amplitude.shape == (4, 2)
    again = model.fit(o, PROBLEM.rows, None, first.hyperparameters, torch.Generator().manual_seed(1))
    assert again.amplitude.shape == (4, 2)
    assert not torch.equal(first.amplitude, again.amplitude)
    for part in again.hyperparameters:
        assert torch.isfinite(part).all()
    same = model.fit(o, PROBLEM.rows, None, None, torch.Generator().manual_seed(0))
    assert torch.equal(same.amplitude, first.amplitude)


def test_beliefs_over_integers_and_choices_are_constant_between_lattice_points():
    problem = Problem(
        {"n": Integer(1, 4), "kind": Choice(["a", "b"]), "x": Real(0, 1)}, minimize="gain", constraints=["heat <= 40"]
    )
    space = Space.of(problem)
    o = observations(problem)
    belief = GP().fit(o, problem.rows, space.snap, None, torch.Generator())
    on = space.encode({"n": 2, "kind": "b", "x": 0.3})[None]
    off = on + torch.tensor([[0.1, 0.3, -0.2, 0.0]])
    torch.testing.assert_close(belief.mean(off), belief.mean(on))
    torch.testing.assert_close(belief.variance(off), belief.variance(on))
    assert not torch.allclose(belief.mean(off + torch.tensor([0.0, 0, 0, 0.1])), belief.mean(on))


@pytest.mark.parametrize("hyperparameters", ["maximum", "slice", KNOWN])
def test_nothing_measured_gives_a_prior(hyperparameters):
    empty = collect(PROBLEM, Space.of(PROBLEM), [])
    model = GP(hyperparameters=hyperparameters, samples=2)
    belief = model.fit(empty, PROBLEM.rows, None, None, torch.Generator().manual_seed(0))
    X = torch.rand(3, 2).expand(*belief.amplitude.shape[:-1], 3, 2)
    assert torch.isfinite(belief.mean(X)).all()
    torch.testing.assert_close(belief.variance(X), belief.amplitude[..., None].expand(*belief.amplitude.shape, 3))
    assert not math.isnan(belief.noise.sum())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GP(kernel="rbf"), "unknown kernel 'rbf'"),  # pyright: ignore[reportArgumentType]
        (lambda: GP(hyperparameters="slce"), "Did you mean 'slice'"),  # pyright: ignore[reportArgumentType]
        (lambda: GP(samples=0), "samples was 0"),
        (lambda: FixedHyperparameters(-0.1, 1.0, 0.01), "lengthscale was -0.1"),
        (lambda: FixedHyperparameters(0.1, 0.0, 0.01), "amplitude was 0.0"),
        (lambda: FixedHyperparameters(0.1, 1.0, -0.01), "noise was -0.01"),
        (lambda: FixedHyperparameters(math.nan, 1.0, 0.01), "lengthscale was nan"),
        (lambda: FixedHyperparameters(0.1, 1.0, 0.01, math.inf), "mean was inf"),
        (
            lambda: GP(hyperparameters={"f": FixedHyperparameters([0.1] * 3, 1.0, 0.0)}).check(("f",), 4),
            "has 3 lengthscales",
        ),
    ],
)
def test_a_model_that_makes_no_sense_is_refused(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


CRASHING = Problem(
    {"x": Real(0, 1), "y": Real(0, 1)},
    maximize="gain",
    constraints=["crash is false", "heat <= 40"],
    tasks={"run": Task(["gain", "heat", "crash"], failures="learn")},
)


def crashing(numbers_only: bool = False, flip: bool = False):
    """Gain and heat everywhere but where the run failed; a crash beyond x = 0.6, a failure beyond y = 0.8."""
    space = Space.of(PROBLEM)
    U = torch.rand(14, 2, generator=torch.Generator().manual_seed(2))
    told = []
    for u in U:
        fails = bool(u[1] > 0.8)
        outcomes = {} if fails else {"gain": float(5 * u.sum()), "heat": float(60 * u[0])}
        if not numbers_only:
            outcomes |= {"run succeeds": float(not fails)} | ({} if fails else {"crash": float(u[0] > 0.6) != flip})
        told.append((u, outcomes))
    if numbers_only:
        return collect(Problem(CRASHING.parameters, maximize="gain", constraints=["heat <= 40"]), space, told)
    return collect(_flipped(CRASHING) if flip else CRASHING, space, told)


def _flipped(problem: Problem) -> Problem:
    constraints = ["crash is true", *problem.constraints[1:]]
    return Problem(problem.parameters, maximize="gain", constraints=constraints, tasks=problem.tasks)


def probability(belief, X: torch.Tensor) -> torch.Tensor:
    X = X.expand(*belief.amplitude.shape[:-1], *X.shape)
    return torch.special.ndtr(belief.mean(X) / (1 + belief.variance(X)).sqrt())


@pytest.mark.parametrize("source", ["maximum", "slice"])
def test_yes_no_rows_are_latent_functions_beside_numbers_that_they_leave_alone(source):
    model, o = GP(hyperparameters=source, samples=3), crashing()
    assert CRASHING.rows == ("gain", "crash", "heat", "run succeeds")
    believed = model.fit(o, CRASHING.rows, None, None, torch.Generator().manual_seed(0))
    alone = model.fit(crashing(True), ("gain", "heat"), None, None, torch.Generator().manual_seed(0))
    assert believed.likelihoods.kinds == ("gaussian", "probit", "gaussian", "probit")
    assert alone.likelihoods.is_gaussian.all()
    assert believed.amplitude.shape == ((3, 4) if source == "slice" else (4,))
    assert (believed.noise[..., [1, 3]] == YES_NO_NOISE).all()
    X = torch.rand(6, 2).expand(*believed.amplitude.shape[:-1], 6, 2)
    torch.testing.assert_close(believed.mean(X)[..., [0, 2], :], alone.mean(X), rtol=0, atol=1e-6)
    torch.testing.assert_close(believed.variance(X)[..., [0, 2], :], alone.variance(X), rtol=0, atol=1e-6)
    safe, crash, failing = probability(believed, torch.tensor([[0.2, 0.4], [0.85, 0.4], [0.4, 0.95]])).unbind(-1)
    assert (safe[..., [1, 3]] > 0.75).all()
    assert (crash[..., 1] < 0.3).all()
    assert (failing[..., 3] < 0.5).all()
    for part in believed.hyperparameters:
        if source == "slice":
            assert (part[:, [1, 3]] == part[:1, [1, 3]]).all()
            assert (part[0, 0] != part[1, 0]).any()


def test_the_belief_of_yes_no_rows_is_that_of_their_pseudo_measurements():
    o = crashing()
    belief = GP(kernel="se").fit(o, CRASHING.rows, None, None, torch.Generator())
    yes_no = torch.tensor([False, True, False, True])
    h, data = belief.hyperparameters.rows(yes_no), o.select(yes_no)
    values, noise = pseudo_measurements(PROBIT, "se", data.X, data.y, data.mask, h)
    alone = GaussianProcess("se", data.X, values, data.mask, h, data_noise=noise)
    X = torch.rand(6, 2)
    torch.testing.assert_close(belief.mean(X)[yes_no], alone.mean(X))
    torch.testing.assert_close(belief.variance(X)[yes_no], alone.variance(X))


def test_the_opposite_question_with_opposite_answers_is_believed_alike():
    one = GP().fit(crashing(), CRASHING.rows, None, None, torch.Generator())
    other = GP().fit(crashing(flip=True), CRASHING.rows, None, None, torch.Generator())
    X = torch.rand(5, 2)
    assert torch.equal(one.mean(X), other.mean(X))
    assert torch.equal(one.variance(X), other.variance(X))


@pytest.mark.parametrize("source", ["maximum", "slice"])
def test_yes_no_rows_start_from_the_previous_too(source):
    model, o = GP(hyperparameters=source, samples=2), crashing()
    first = model.fit(o, CRASHING.rows, None, None, torch.Generator().manual_seed(0))
    again = model.fit(o, CRASHING.rows, None, first.hyperparameters, torch.Generator().manual_seed(0))
    yes_no = torch.tensor([False, True, False, True])
    one, other = first.hyperparameters.rows(yes_no).first(), again.hyperparameters.rows(yes_no).first()
    torch.testing.assert_close(one.lengthscale, other.lengthscale, rtol=0.05, atol=0)
    torch.testing.assert_close(one.amplitude, other.amplitude, rtol=0.05, atol=0)


def test_known_hyperparameters_of_a_yes_or_no_are_of_the_latent_function_of_a_yes():
    known = {**KNOWN, "crash": FixedHyperparameters(lengthscale=0.3, amplitude=5.0, noise=77.0, mean=-1.5)}
    model = GP(hyperparameters=known)
    model.check(CRASHING.outcomes, 2)
    o = crashing()
    belief = model.fit(o, CRASHING.rows, None, None, torch.Generator())
    h = belief.hyperparameters
    assert (h.amplitude[1].item(), h.noise[1].item()) == (5.0, YES_NO_NOISE)
    assert h.mean[1].item() == 1.5  # the row is feasible where there is no crash
    torch.testing.assert_close(h.lengthscale[1], torch.tensor([0.3, 0.3]))
    # nobody knows those of the success: they are fitted
    fitted = GP().fit(o, CRASHING.rows, None, None, torch.Generator()).hyperparameters
    torch.testing.assert_close(h.lengthscale[3], fitted.lengthscale[3], rtol=1e-2, atol=0)
    far = torch.tensor([[40.0, 40.0]])
    assert belief.mean(far)[1].item() == pytest.approx(1.5)
    with pytest.raises(ProblemError, match="hyperparameters of 'crash'"):
        GP(hyperparameters=KNOWN).check(CRASHING.outcomes, 2)


@pytest.mark.parametrize("source", ["maximum", "slice"])
def test_yes_no_rows_without_answers_are_their_prior(source):
    empty = collect(CRASHING, Space.of(CRASHING), [])
    model = GP(hyperparameters=source, samples=2)
    belief = model.fit(empty, CRASHING.rows, None, None, torch.Generator().manual_seed(0))
    p = probability(belief, torch.rand(3, 2))
    torch.testing.assert_close(p[..., [1, 3], :], torch.full_like(p[..., [1, 3], :], 0.5))


def test_a_fit_goes_on_from_the_last_one_until_there_are_a_tenth_more_values_or_a_surprise(monkeypatch):
    asked = []
    whole = fit.maximize
    monkeypatch.setattr(fit, "maximize", lambda *given, **how: asked.append(how.get("is_sure")) or whole(*given, **how))
    x = torch.linspace(0, 1, 70, dtype=torch.float64)[torch.randperm(70, generator=torch.Generator().manual_seed(0))]

    def fitted(n, previous, last=None):
        y = torch.sin(6 * x[:n]) + 0.05 * torch.cos(57 * x[:n])
        if last is not None:
            y[-1] = last
        one = torch.ones(1, dtype=torch.float64)
        o = Observations(
            x[None, :n, None],
            y[None],
            torch.ones(1, n, dtype=torch.bool),
            one * torch.nan,
            one,
            one,
            one,
            ("gaussian",),
        )
        asked.clear()
        return GP().fit_warped(o, ("f",), None, previous, torch.Generator().manual_seed(0), True)

    first = fitted(50, None)
    assert (asked, first.searched) == ([False], 50)
    second = fitted(51, first)
    assert (asked, second.searched) == ([True], 50)
    assert fitted(57, second).searched == 57  # a tenth more
    assert fitted(51, first, last=3.0).searched == 51  # a surprise
    assert fitted(51, second).searched == 51  # nothing new: something else has changed


@pytest.mark.parametrize(
    ("deviations", "is_far"),
    [((2.9,), False), ((3.1,), True), ((2.2, 2.2), False), ((2.2,) * 4, True), ((3.1, 0.1, 0.1, 0.1), False)],
)
def test_new_values_are_a_surprise_by_what_they_are_together(deviations, is_far):
    z, n = torch.tensor([[0.5] * 6 + list(deviations)]), 6 + len(deviations)
    h = hyperparameters(1, 1, noise=0.1)
    # of which [K^-1]_ii = z^2 - 2 by_log_datum_noise / noise = 1
    by_datum_noise = 0.05 * (z.square() - 1)
    given = {name: torch.zeros(1, n) for name in MarginalLikelihood._fields}
    explained = MarginalLikelihood(**{**given, "by_value": -z, "by_log_datum_noise": by_datum_noise})
    one = torch.ones(1)
    o = Observations(torch.rand(1, n, 1), z, torch.ones(1, n, dtype=torch.bool), one, one, one, one, ("gaussian",))
    assert _is_surprised(explained, h, o, torch.tensor([len(deviations)])) is is_far
