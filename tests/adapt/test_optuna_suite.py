"""Optuna's own tests of samplers, as it installs them, for ours."""

from collections.abc import Callable
from functools import partial

import pytest
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase
from study.quick import QUICK

from pesky.adapt.optuna import PeskySampler


class Suite(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    """What every sampler of one objective promises that decides all parameters together."""

    startup = 3

    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        given = {"rule": QUICK, "n_startup_trials": self.startup, "warn_independent_sampling": False}
        return partial(PeskySampler, seed=0, **given)


class TestStartup(Suite):
    """All but the deciding: the points are those of a Latin hypercube."""

    startup = 30


class TestDeciding(Suite):
    """The same where the model decides."""
