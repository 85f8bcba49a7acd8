"""A BoTorch model as a belief says what the model says, through its transforms, signs and bounds."""

from typing import Any

import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Normalize, Standardize

from pesky.errors import DataError
from pesky.model.botorch import BotorchBelief

LOWER, UPPER = torch.tensor([-2.0, 10.0]), torch.tensor([3.0, 50.0])


def fitted(seed: int, n: int = 8, transforms: bool = True) -> SingleTaskGP:
    g = torch.Generator().manual_seed(seed)
    X = LOWER + (UPPER - LOWER) * torch.rand(n, 2, generator=g)
    Y = 40 + 15 * torch.randn(n, 1, generator=g)
    if not transforms:
        X, Y = (X - LOWER) / (UPPER - LOWER), Y / 40 - 1
    model = SingleTaskGP(
        X,
        Y,
        input_transform=Normalize(2, bounds=torch.stack([LOWER, UPPER])) if transforms else None,
        outcome_transform=Standardize(1) if transforms else None,
    )
    model.covar_module.lengthscale = torch.tensor([0.3, 0.6])
    model.likelihood.noise = torch.tensor([0.02])
    return model.requires_grad_(False).eval()


def believe(transforms: bool = True, **given) -> tuple[ModelListGP, BotorchBelief]:
    model = ModelListGP(*(fitted(seed, 8 - seed, transforms) for seed in range(3)))
    bounds = torch.stack([LOWER, UPPER]) if transforms else None
    given = {"objective": 0, "maximize": False, "constraints": {1: (35.0, None), 2: (None, 50.0)}} | given
    return model, BotorchBelief.of(model, bounds=bounds, **given)


def parts(model: ModelListGP) -> list[Any]:
    return list(model.models)


def unit(n: int = 5) -> torch.Tensor:
    return torch.rand(n, 2, generator=torch.Generator().manual_seed(50))


def test_mean_and_covariance_are_the_models():
    model, belief = believe()
    u, v = unit(), unit(9)[5:]
    raw = LOWER + (UPPER - LOWER) * u
    posterior = model.posterior(raw)
    expected = torch.stack([posterior.mean[:, 0], posterior.mean[:, 1] - 35, 50 - posterior.mean[:, 2]])
    torch.testing.assert_close(belief.mean(u), expected)
    torch.testing.assert_close(belief.variance(u), posterior.variance.mT)
    both = LOWER + (UPPER - LOWER) * torch.cat([u, v])
    for row, single in enumerate(parts(model)):
        covariance = single.posterior(both).distribution.covariance_matrix
        torch.testing.assert_close(belief.covariance(u, v)[row], covariance[:5, 5:], rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(belief.covariance(u, u)[row], covariance[:5, :5], rtol=1e-6, atol=1e-6)
    seen = belief.evaluator(v)(u)
    torch.testing.assert_close(seen.mean, belief.mean(u))
    torch.testing.assert_close(seen.variance, belief.variance(u))
    torch.testing.assert_close(seen.covariance, belief.covariance(v, u))


def test_maximizing_flips_the_objective_alone():
    _, low = believe()
    _, high = believe(maximize=True)
    torch.testing.assert_close(high.mean(unit())[0], -low.mean(unit())[0])
    torch.testing.assert_close(high.mean(unit())[1:], low.mean(unit())[1:])
    torch.testing.assert_close(high.covariance(unit(), unit()), low.covariance(unit(), unit()))


def test_two_sided_bounds_are_two_conditions_of_one_row():
    model, belief = believe(constraints={2: (30.0, 50.0), 0: (None, 4.0), 1: (None, 1.0)})
    assert belief.outcome_of_row == [0, 2, 1]
    posterior = model.posterior(LOWER + (UPPER - LOWER) * unit()).mean.mT
    mean = belief.mean(unit())
    torch.testing.assert_close(mean[1], posterior[2] - 30)
    assert belief.conditions is not None
    margins = torch.stack([posterior[2] - 30, 50 - posterior[2], 4 - posterior[0], 1 - posterior[1]])
    torch.testing.assert_close(belief.conditions.margins(mean), margins)
    assert believe(constraints={2: (30.0, None), 1: (None, 1.0)})[1].conditions is None


def test_hyperparameters_come_in_the_units_of_the_cube_and_the_outcome():
    model, belief = believe()
    for row, single in enumerate(parts(model)):
        torch.testing.assert_close(belief.lengthscale[row], torch.tensor([0.3, 0.6]))
        spread = single.outcome_transform.stdvs.square().item()
        assert belief.amplitude[row].item() == pytest.approx(spread)  # BoTorch's kernel has unit variance
        assert belief.noise[row].item() == pytest.approx(0.02 * spread, rel=1e-6)


def test_points_are_the_models_own_inputs_in_the_unit_cube():
    model, belief = believe()
    assert belief.points.shape == (8 + 7 + 6, 2)
    raw = torch.cat([LOWER + (UPPER - LOWER) * belief.points])
    g = torch.Generator().manual_seed(0)
    torch.testing.assert_close(raw[:8], LOWER + (UPPER - LOWER) * torch.rand(8, 2, generator=g))
    assert len(parts(model)) == 3


@pytest.mark.parametrize("transforms", [True, False])
def test_draws_follow_the_posterior(transforms):
    _, belief = believe(transforms, **({} if transforms else {"constraints": {1: (0.1, None), 2: (None, 0.3)}}))
    paths, u = belief.paths(3000, torch.Generator().manual_seed(0)), unit(4)
    values = paths.values(u)
    deviation = belief.variance(u).sqrt()
    assert ((values.mean(1) - belief.mean(u)).abs() / belief.amplitude.sqrt()[:, None]).max() < 0.08
    torch.testing.assert_close(values.std(1) / deviation, torch.ones(3, 4), rtol=0, atol=0.15)


def test_draws_have_gradients_and_can_be_selected():
    _, belief = believe()
    paths = belief.paths(6, torch.Generator().manual_seed(0)).select(torch.tensor([4, 1, 5]))
    u = unit(3)
    value, gradient = paths.at(u)
    torch.testing.assert_close(value, paths.values(u).diagonal(dim1=-2, dim2=-1))
    for i in range(2):
        move = torch.zeros(2)
        move[i] = 1e-5
        numeric = (paths.at(u + move)[0] - paths.at(u - move)[0]) / 2e-5
        torch.testing.assert_close(gradient[..., i], numeric, rtol=1e-4, atol=1e-3)
    again = paths.select(torch.tensor([2, 2]))
    torch.testing.assert_close(again.values(u), paths.values(u)[:, [2, 2]])


def test_drawing_leaves_torchs_own_random_numbers_alone():
    _, belief = believe()
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    one = belief.paths(2, torch.Generator().manual_seed(1)).values(unit())
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)
    torch.testing.assert_close(belief.paths(2, torch.Generator().manual_seed(1)).values(unit()), one)


def test_a_single_model_of_several_outcomes_is_split():
    g = torch.Generator().manual_seed(0)
    model = SingleTaskGP(torch.rand(6, 2, generator=g), torch.randn(6, 2, generator=g))
    belief = BotorchBelief.of(model, 0, False, {1: (0.0, None)})
    with torch.no_grad():
        torch.testing.assert_close(belief.mean(unit()), model.posterior(unit()).mean.mT, rtol=1e-6, atol=1e-7)


def test_what_is_not_a_model_per_outcome_is_refused():
    from botorch.models import MultiTaskGP

    g = torch.Generator().manual_seed(0)
    X = torch.cat([torch.rand(6, 2, generator=g), torch.tensor([0.0, 1, 0, 1, 0, 1])[:, None]], -1)
    model = MultiTaskGP(X, torch.randn(6, 1, generator=g), task_feature=-1)
    with pytest.raises(DataError, match="MultiTaskGP"):
        BotorchBelief.of(model, 0, False, {})
    with pytest.raises(DataError, match="outcome 3 was named"):
        believe(constraints={3: (0.0, None)})
    batch = SingleTaskGP(torch.rand(2, 4, 2, generator=g), torch.randn(2, 4, 1, generator=g))
    with pytest.raises(DataError, match="expected n x d"):
        BotorchBelief.of(ModelListGP(batch), 0, False, {})
