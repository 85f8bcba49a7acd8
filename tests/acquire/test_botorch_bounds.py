"""PESC in BoTorch says what it takes, and refuses data that its bounds cannot be of."""

import inspect

import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP

from pesky.acquire import PESC, BotorchAcquisition
from pesky.errors import DataError


def test_data_outside_the_unit_cube_need_bounds():
    X = torch.rand(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    model = ModelListGP(SingleTaskGP(10 * X, X[:, :1]))
    with pytest.raises(DataError, match=r"outside the unit cube, and no bounds were given: give bounds="):
        PESC(model)


def test_help_has_every_argument():
    own, every = (inspect.signature(each.__init__).parameters for each in (PESC, BotorchAcquisition))
    assert set(own) == {*every, "options"} - {"rule"}
    assert all(own[name].default == every[name].default for name in own if name in every)
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
