"""What a rule promises as a BoTorch acquisition function."""

import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.kernels import RBFKernel, ScaleKernel
from torch import Tensor

from pesky.acquire import BotorchAcquisition, Rule
from pesky.errors import DataError, PeskyError
from pesky.model import GaussianProcess, Hyperparameters

UNIT = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


class RuleTest:
    """The fixture that a test of a rule may ask for."""

    @pytest.fixture
    def rule(self) -> Rule:
        """The rule; with few samples, so that the tests are quick."""
        raise NotImplementedError("a subclass of RuleContract overrides the fixture `rule`")

    def most_constraints(self, rule: Rule) -> int:
        """The largest number of constraints, up to three, that the rule takes."""
        for count in (3, 2, 1):
            try:
                rule.check(2, count)
            except PeskyError:
                continue
            return count
        return 0


def points(count: int = 6, d: int = 2, seed: int = 5) -> Tensor:
    """Points of the unit cube."""
    return torch.rand(count, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def waves(U: Tensor, constraints: int, shift: float) -> Tensor:
    """A row for the objective and one for each constraint, which is higher by `shift`."""
    row = torch.arange(constraints + 1, dtype=U.dtype)[:, None]
    wave = torch.sin(5 * (U.sum(-1) + 0.3 * U.shape[-1] * row)) + 0.5 * torch.cos(7 * U[:, 0] + row)
    return wave + shift * (row > 0)


def belief(constraints: int, *, d: int = 2, noise: float = 1e-4, shift: float = 0.3) -> GaussianProcess:
    """Waves of the unit cube, measured at seven points."""
    X, rows = points(7, d, seed=1), constraints + 1
    one, mask = torch.ones(rows, dtype=torch.float64), torch.ones(rows, 7, dtype=torch.bool)
    known = Hyperparameters(torch.full((rows, d), 0.3, dtype=torch.float64), one, noise * one, 0.0 * one)
    return GaussianProcess("se", X.expand(rows, 7, d), waves(X, constraints, shift), mask, known)


def model(constraints: int, *, low: float = 0.0, high: float = 1.0) -> ModelListGP:
    """The same as a model of BoTorch's, of a cube that is stretched to low .. high."""
    U, models = points(7, seed=1), []
    for y in waves(U, constraints, 0.3):
        kernel = ScaleKernel(RBFKernel(ard_num_dims=2))
        kernel.initialize(**{"outputscale": 1.0, "base_kernel.lengthscale": 0.3 * (high - low)})
        X, noise = low + (high - low) * U, torch.full_like(y, 1e-4)
        # Without a transform: what is asserted is about these very numbers.
        models.append(SingleTaskGP(X, y[:, None], noise[:, None], covar_module=kernel, outcome_transform=None))
    return ModelListGP(*models).double()


def feasible_above(constraints: int) -> dict[int, tuple[float | None, float | None]]:
    """Outcomes 1 to K at zero and above."""
    return dict.fromkeys(range(1, constraints + 1), (0.0, None))


class AcquisitionContract(RuleTest):
    """What a rule promises to BoTorch."""

    def make(self, rule: Rule, constraints: int | None = None, **given) -> BotorchAcquisition:
        """The acquisition of a small belief, which is much quicker than a model of BoTorch's."""
        constraints = min(2, self.most_constraints(rule)) if constraints is None else constraints
        stated = {name: given.pop(name) for name in ("d", "noise", "shift") if name in given}
        return BotorchAcquisition(belief(constraints, **stated), rule, **given)

    def of_botorch(self, rule: Rule, low: float = 0.0, high: float = 1.0, **given) -> BotorchAcquisition:
        """The acquisition of a small model of BoTorch's."""
        constraints = min(2, self.most_constraints(rule))
        limits = feasible_above(constraints)
        return BotorchAcquisition(model(constraints, low=low, high=high), rule, constraints=limits, **given)

    def test_a_batch_of_points_gives_a_value_each(self, rule: Rule):
        acquisition = self.make(rule)
        X = points()
        values = acquisition(X[:, None])
        assert values.shape == (6,)
        assert torch.isfinite(values).all()
        assert acquisition(X.view(2, 3, 1, 2)).shape == (2, 3)
        torch.testing.assert_close(acquisition(X.view(2, 3, 1, 2)).flatten(), values)
        torch.testing.assert_close(acquisition(X[3:4])[0], values[3])
        with pytest.raises(AssertionError, match="q=1"):
            acquisition(X[None])

    def test_the_gradient_is_that_of_the_value(self, rule: Rule):
        acquisition = self.make(rule)
        X = points(4, seed=11).requires_grad_()
        (gradient,) = torch.autograd.grad(acquisition(X[:, None]).sum(), X)
        step = 1e-5
        with torch.no_grad():
            for i in range(2):
                move = torch.zeros(2, dtype=torch.float64)
                move[i] = step
                quotient = (acquisition((X + move)[:, None]) - acquisition((X - move)[:, None])) / (2 * step)
                torch.testing.assert_close(gradient[:, i], quotient, rtol=1e-3, atol=1e-5)

    @pytest.mark.parametrize(("constraints", "noise"), [(0, 1e-2), (1, 1e-2), (3, 1e-10)])
    def test_values_and_gradients_are_finite_everywhere(self, rule: Rule, constraints: int, noise: float):
        """At measured points, at the corners, at the rule's own favorite points, and with nothing feasible."""
        if constraints > self.most_constraints(rule):
            pytest.skip(f"{rule.name} takes no {constraints} constraints")
        corners = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 2)
        for shift in (0.3, -4.0):
            acquisition = self.make(rule, constraints, noise=noise, shift=shift)
            centers = acquisition.acquisition.search_centers
            X = torch.cat([acquisition.belief.points, corners, centers, points(30)]).requires_grad_()
            values = acquisition(X[:, None])
            (gradient,) = torch.autograd.grad(values.sum(), X)
            assert torch.isfinite(values).all()
            assert torch.isfinite(gradient).all()
            assert values.std() > 0

    def test_the_same_seed_gives_the_same_values(self, rule: Rule):
        X = points()[:, None]
        assert torch.equal(self.make(rule, seed=3)(X), self.make(rule, seed=3)(X))

    def test_bounds_are_stretched_to(self, rule: Rule):
        """Inputs in other units are worth the same, and to a model of BoTorch's what they are to our own."""
        box = torch.tensor([[-2.0, -2.0], [3.0, 3.0]], dtype=torch.float64)
        X, seeds = points()[:, None], range(4)
        unit = torch.stack([self.make(rule, seed=seed)(X) for seed in seeds]).mean(0)
        others = [self.of_botorch(rule, low=-2.0, high=3.0, bounds=box, seed=seed)(-2 + 5 * X) for seed in seeds]
        # draws of the same seed differ in the model's own units: no rule is exact, and none is off by much on average
        torch.testing.assert_close(torch.stack(others).mean(0), unit, rtol=0.3, atol=0.1)

    def test_one_dimension_is_enough(self, rule: Rule):
        assert torch.isfinite(self.make(rule, d=1)(points(5, 1)[:, None])).all()

    def test_optimize_acqf_finds_a_better_point_than_chance(self, rule: Rule):
        acquisition = self.of_botorch(rule)
        torch.manual_seed(0)  # BoTorch draws its starts from it
        x, value = optimize_acqf(acquisition, UNIT, q=1, num_restarts=3, raw_samples=256, options={"maxiter": 30})
        assert x.shape == (1, 2)
        by_chance = acquisition(points(40)[:, None])
        assert value >= by_chance.max() - 0.05 * (by_chance.max() - by_chance.min())

    def test_what_is_pending_is_not_asked_again(self, rule: Rule):
        acquisition = self.make(rule, noise=1e-8)
        X = points(200)
        before = acquisition(X[:, None])
        best = X[before.argmax()]
        acquisition.set_X_pending(best[None])
        assert acquisition.X_pending is not None
        assert torch.equal(acquisition.X_pending, best[None])
        after = acquisition(X[:, None])
        assert torch.isfinite(after).all()
        moved = float((X[after.argmax()] - best).norm())
        assert moved > 1e-6, "the point of most worth is still the one that is being measured: see `with_pending`"
        acquisition.set_X_pending(None)
        assert acquisition.X_pending is None
        torch.testing.assert_close(acquisition(X[:, None]), before)

    def test_outcomes_are_valued_one_by_one_or_refused(self, rule: Rule):
        constraints = self.most_constraints(rule)
        X = points()
        only = torch.zeros(1, constraints + 1, dtype=torch.bool)
        only[0, -1] = True
        if rule.measures == "each":
            acquisition = self.make(rule, constraints)
            gains = acquisition.gains(X)
            assert gains.shape == (6, constraints + 1)
            torch.testing.assert_close(acquisition(X[:, None]), gains.sum(-1))
            masked = self.make(rule, constraints, X_evaluation_mask=only)
            torch.testing.assert_close(masked(X[:, None]), gains[:, -1])
            pending = self.make(rule, constraints, X_pending=X[:2], X_pending_evaluation_mask=only.expand(2, -1))
            assert torch.isfinite(pending.gains(X)).all()
        else:
            with pytest.raises(DataError, match=f"{rule.name!r} values only all outcomes .* 'pesc'"):
                self.make(rule, constraints, X_evaluation_mask=only)
            with pytest.raises(DataError, match="'pesc'"):
                self.make(rule, constraints).gains(X)

    def test_an_objective_can_be_maximized_and_a_constraint_have_two_sides(self, rule: Rule):
        if self.most_constraints(rule) == 0:
            pytest.skip(f"{rule.name} takes no constraints")
        given = model(2)
        acquisition = BotorchAcquisition(given, rule, objective=2, maximize=True, constraints={0: (-1.0, 1.0)})
        values = acquisition(points()[:, None])
        assert torch.isfinite(values).all()
        assert values.std() > 0
