"""PESC in BoTorch says what it takes, and refuses data that its bounds cannot be of."""

import inspect
import math

import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP
from small_beliefs import make_belief

from pesky.acquire import PESC, BotorchAcquisition
from pesky.errors import DataError
from pesky.model.botorch import check_bounds, checked_constraints


def test_data_outside_the_unit_cube_need_bounds():
    X = torch.rand(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    model = ModelListGP(SingleTaskGP(10 * X, X[:, :1]))
    with pytest.raises(DataError, match=r"outside the unit cube, and no bounds were given: give bounds="):
        PESC(model)


def model_of(dtype: torch.dtype = torch.float64) -> ModelListGP:
    X = torch.rand(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).to(dtype)
    return ModelListGP(SingleTaskGP(X, X[:, :1]), SingleTaskGP(X, X[:, 1:]))


@pytest.mark.parametrize("given", [{1: 0.5}, {1: (None, 0.5, 1)}, {1: (None, "a")}, {1: (0, math.inf)}, [(None, 0.5)]])
def test_constraints_that_are_no_bounds_are_refused(given: object):
    with pytest.raises(DataError, match=r"^constraints were .*: expected the bounds .*: \{1: \(None, 0\.5\)\}\.$"):
        checked_constraints(given)


@pytest.mark.parametrize("given", [[(0, 1), (0, 1)], torch.rand(2, 3), torch.ones(2, 2)])
def test_bounds_that_are_none_are_refused(given: object):
    with pytest.raises(DataError, match=r"^bounds were \[.*: expected a tensor of 2 x 2 numbers, the lower bound"):
        check_bounds(given, 2)


def test_what_is_wrong_with_constraints_and_bounds_is_said_by_pesc():
    with pytest.raises(DataError, match=r"^constraints were \{1: \(None, nan\)\}: expected the bounds"):
        PESC(model_of(), constraints={1: (None, math.nan)})
    for model in (model_of(), make_belief()):
        with pytest.raises(DataError, match="expected a tensor of 2 x 2 numbers"):
            PESC(model, bounds=torch.ones(2, 2))


@pytest.mark.filterwarnings("ignore:The model inputs are of type")
def test_a_model_in_single_precision_is_refused():
    with pytest.raises(DataError, match=r"inputs of torch\.float32; expected torch\.float64.*train_X\.double"):
        PESC(model_of(torch.float32))


def test_help_has_every_argument():
    own, every = (inspect.signature(each.__init__).parameters for each in (PESC, BotorchAcquisition))
    assert set(own) == set(every)
    assert all(own[name].default == every[name].default for name in own if name != "rule")
    for name in set(own) - {"self"}:
        assert f"{name}:" in str(PESC.__init__.__doc__)


def test_a_model_whose_parameters_are_still_to_be_differentiated_is_valued_at_full_size():
    X = torch.rand(12, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    model = ModelListGP(SingleTaskGP(X, X[:, :1] - X[:, 1:]), SingleTaskGP(X, X[:, :1] + X[:, 1:]))
    acquisition = PESC(model, constraints={1: (None, 1.0)})
    here = torch.full((3, 1, 2), 0.4, dtype=torch.float64, requires_grad=True)
    value = acquisition(here)
    assert value.shape == (3,)
    (gradient,) = torch.autograd.grad(value.sum(), here)
    assert torch.isfinite(gradient).all()
