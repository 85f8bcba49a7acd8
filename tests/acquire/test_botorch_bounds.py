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
