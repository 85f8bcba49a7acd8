"""What a task is worth: its rows, its own success, its price."""

from dataclasses import replace

import torch
from small_beliefs import make_belief

from pesky import Real
from pesky.acquire import EntropySearchByEP
from pesky.acquire.base import AcquisitionFunction, Context, PointPreference
from pesky.model import GaussianProcess
from pesky.optimum.assessment import assess
from pesky.space import Space
from pesky.strategy.masks import Masks
from pesky.strategy.select import select
from pesky.strategy.task_values import TaskOptions, TaskValues, feasibility, fixed_prices

QUICK = EntropySearchByEP(samples=8, draws=40, local_reach=0.2, polish_steps=3, candidates=64, fine_from=0, coarse=None)
SPACE = Space({"x": Real(0, 1), "y": Real(0, 1)})
X = torch.rand(30, 2, generator=torch.Generator().manual_seed(1))
CONFIDENCE = torch.full((2,), 0.95)
TOGETHER = TaskOptions(torch.ones(1, 3), (None,), fixed_prices(torch.ones(1)))


def context(belief: GaussianProcess) -> Context:
    return Context(belief, SPACE, CONFIDENCE, torch.Generator().manual_seed(0))


def values_of(belief: GaussianProcess, task_options: TaskOptions = TOGETHER) -> TaskValues:
    return TaskValues(context(belief), QUICK, QUICK.acquisition(context(belief)), task_options)


def believed(seed: int = 1, **given) -> GaussianProcess:
    return replace(make_belief(rows=3, seed=seed, **given), kinds=("gaussian", "gaussian", "probit"))


def test_what_a_run_measures_counts_with_the_probability_of_its_success():
    task_options = TaskOptions(torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), (2, None), fixed_prices(torch.ones(2)))
    values = values_of(believed(), task_options)
    gains, likely = values.acquisition(X).clamp(min=0.0), feasibility(values.context.belief, X)
    found = values.value(X)
    torch.testing.assert_close(found[:, 0], gains[:, 2] + likely[:, 2] * gains[:, :2].sum(-1))
    torch.testing.assert_close(found[:, 1], gains[:, 0])


def test_the_probability_of_a_yes_is_that_of_the_noisy_latent_function():
    belief = believed()
    noise = torch.randn(400_000, generator=torch.Generator().manual_seed(0))
    latent = belief.mean(X[:3])[2] + belief.variance(X[:3])[2].sqrt() * noise[:, None]
    expected = torch.special.ndtr(latent).mean(0)
    torch.testing.assert_close(feasibility(belief, X[:3])[:, 2], expected, rtol=0, atol=3e-3)


def test_a_price_that_depends_on_the_point_moves_the_question():
    free = select(values_of(believed()))
    steep = TOGETHER._replace(prices=lambda x: torch.exp(20 * (x[:, :1] - free.u[0]).abs().neg() + 20))
    moved = select(values_of(believed(), steep))
    assert (moved.u[0] - free.u[0]).abs() > 0.1
    assert moved.price < float(steep.prices(free.u[None]))


def test_questions_keep_to_where_the_constraints_probably_hold():
    for seed in range(3):
        belief = believed(seed, offsets=(2.0, 4.0))
        for least in (0.5, 0.9):
            found = select(values_of(belief), Masks(least))
            assert assess(belief, found.u[None], CONFIDENCE).log_probability.sum().exp() >= least - 1e-9


def test_where_no_point_is_probable_enough_the_likeliest_are_asked():
    belief = believed(offsets=(-3.0, -3.0))
    found = select(values_of(belief), Masks(0.99))
    everywhere = assess(belief, X, CONFIDENCE).log_probability.sum(0)
    here = assess(belief, found.u[None], CONFIDENCE).log_probability.sum()
    assert here >= everywhere.quantile(0.8)


def test_logarithms_stay_logarithms():
    """What is worth e to a rule that counts in logarithms is worth 1, less the log of its price."""
    belief = believed()
    plain, log = PointPreference(belief, X[0], torch.ones(3)), PointPreference(belief, X[0], torch.ones(3))
    log.is_log = True
    prices = torch.tensor([1.0, 4.0])
    task_options = TaskOptions(torch.eye(3)[:2], (None, None), fixed_prices(prices))
    values, logs = (TaskValues(context(belief), QUICK, each, task_options) for each in (plain, log))
    torch.testing.assert_close(values.per_cost(X), values.value(X) / prices)
    torch.testing.assert_close(logs.per_cost(X), logs.value(X) - prices.log())
    for each in (values, logs):
        torch.testing.assert_close(each.without_cost(each.per_cost(X), prices.expand(len(X), 2)), each.value(X))


def test_an_update_without_news_decides_as_well():
    belief = believed()
    before = QUICK.acquisition(context(belief))
    after = QUICK.update(before, context(belief))
    one, two = (select(TaskValues(context(belief), QUICK, each, TOGETHER)) for each in (before, after))
    torch.testing.assert_close(one.u, two.u)


def test_information_below_zero_is_an_error_of_its_estimate_and_takes_nothing_off():
    class Estimated(AcquisitionFunction):
        def forward(self, X: torch.Tensor) -> torch.Tensor:
            return torch.tensor([-0.3, 0.2, torch.nan])[:, None].expand(3, X.shape[-2])

    task_options = TaskOptions(
        torch.tensor([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]), (None, None), fixed_prices(torch.ones(2))
    )
    values = values_of(believed(), task_options)
    acquisition = Estimated(values.context.belief, X[None, :1], torch.ones(1, 1, dtype=torch.bool))
    found = values._replace(acquisition=acquisition).value(X)
    assert (found[:, 0] >= found[:, 1]).all()
    torch.testing.assert_close(found, torch.full((30, 2), 0.2))
