"""From observations to a belief: by maximum, by slice sampling, or at known hyperparameters."""

import math

import pytest
import torch

from pesky import GP, Choice, Integer, Known, Problem, ProblemError, Real
from pesky.data import collect
from pesky.model.beliefs import scaled
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
    "gain": Known(lengthscale=0.4, amplitude=9.0, noise=0.01, mean=2.0),
    "heat": Known(lengthscale=(0.2, 0.7), amplitude=400.0, noise=0.0, mean=25.0),
}


def test_known_hyperparameters_are_scaled_to_each_row():
    o = observations()
    h = scaled(KNOWN, o, PROBLEM.rows)
    torch.testing.assert_close(h.lengthscale, torch.tensor([[0.4, 0.4], [0.2, 0.7], [0.4, 0.4]]))
    torch.testing.assert_close(h.amplitude * o.scale.square(), torch.tensor([9.0, 400.0, 9.0]))
    torch.testing.assert_close((h.noise * o.scale.square())[[0, 2]], torch.tensor([0.01, 0.01]))
    assert 0 < h.noise[1] < 1e-9
    for row, mean in enumerate((2.0, 25.0, 2.0)):
        assert o.to_user(row, h.mean[row]).item() == pytest.approx(mean)


def test_a_known_belief_predicts_in_user_units():
    o = observations()
    belief = GP(kernel="se", hyperparameters=KNOWN).believe(o, PROBLEM.rows, None, None, torch.Generator())
    far = torch.tensor([[40.0, 40.0]])
    assert o.to_user(0, belief.mean(far)[0]).item() == pytest.approx(2.0)
    assert o.to_user(1, belief.mean(far)[1]).item() == pytest.approx(25.0)
    # the heat is measured without noise
    at = o.X[1][o.mask[1]]
    torch.testing.assert_close(belief.mean(at)[1], o.y[1][o.mask[1]], rtol=0, atol=1e-3)


def test_by_maximum_there_is_no_sample_dimension_and_given_noise_is_kept():
    o = observations()
    belief = GP().believe(o, PROBLEM.rows, None, None, torch.Generator())
    assert belief.amplitude.shape == (3,)
    torch.testing.assert_close(belief.noise[[0, 2]], o.noise[[0, 2]])
    assert belief.kernel == "matern52"


def test_by_slice_sampling_the_samples_lead_and_continue_from_the_previous():
    o = observations()
    model = GP(hyperparameters="slice", samples=4)
    first = model.believe(o, PROBLEM.rows, None, None, torch.Generator().manual_seed(0))
    assert first.amplitude.shape == (4, 3)
    again = model.believe(o, PROBLEM.rows, None, first.hyperparameters, torch.Generator().manual_seed(1))
    assert again.amplitude.shape == (4, 3)
    assert not torch.equal(first.amplitude, again.amplitude)
    for part in again.hyperparameters:
        assert torch.isfinite(part).all()
    same = model.believe(o, PROBLEM.rows, None, None, torch.Generator().manual_seed(0))
    assert torch.equal(same.amplitude, first.amplitude)


def test_beliefs_over_integers_and_choices_are_constant_between_lattice_points():
    problem = Problem(
        {"n": Integer(1, 4), "kind": Choice(["a", "b"]), "x": Real(0, 1)}, minimize="gain", constraints=["heat <= 40"]
    )
    space = Space.of(problem)
    o = observations(problem)
    belief = GP().believe(o, problem.rows, space.snap, None, torch.Generator())
    on = space.encode({"n": 2, "kind": "b", "x": 0.3})[None]
    off = on + torch.tensor([[0.1, 0.3, -0.2, 0.0]])
    torch.testing.assert_close(belief.mean(off), belief.mean(on))
    torch.testing.assert_close(belief.variance(off), belief.variance(on))
    assert not torch.allclose(belief.mean(off + torch.tensor([0.0, 0, 0, 0.1])), belief.mean(on))


@pytest.mark.parametrize("hyperparameters", ["maximum", "slice", KNOWN])
def test_nothing_measured_gives_a_prior(hyperparameters):
    empty = collect(PROBLEM, Space.of(PROBLEM), [])
    model = GP(hyperparameters=hyperparameters, samples=2)
    belief = model.believe(empty, PROBLEM.rows, None, None, torch.Generator().manual_seed(0))
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
        (lambda: Known(-0.1, 1.0, 0.01), "lengthscale was -0.1"),
        (lambda: Known(0.1, 0.0, 0.01), "amplitude was 0.0"),
        (lambda: Known(0.1, 1.0, -0.01), "noise was -0.01"),
        (lambda: Known(math.nan, 1.0, 0.01), "lengthscale was nan"),
        (lambda: Known(0.1, 1.0, 0.01, math.inf), "mean was inf"),
        (lambda: GP(hyperparameters={"f": Known([0.1] * 3, 1.0, 0.0)}).check(("f",), 4), "has 3 lengthscales"),
    ],
)
def test_a_model_that_makes_no_sense_is_refused(make, message):
    with pytest.raises(ProblemError, match=message):
        make()
