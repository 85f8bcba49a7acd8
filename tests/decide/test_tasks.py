"""What a task is worth: its rows, its own success, its price; and the quick decision in between."""

from dataclasses import replace
from typing import Any

import torch
from small_beliefs import make_belief

from pesky import Real
from pesky.acquire import PescOptions
from pesky.acquire.base import Context
from pesky.acquire.pesc.rule import PredictiveEntropySearch
from pesky.decide import TaskOptions, analyze, choose, draw, fixed_prices, update, worth_at_optima
from pesky.decide.tasks import feasibility, task_worth
from pesky.optimum.recommend import assess
from pesky.space import Space

QUICK = PredictiveEntropySearch(PescOptions(samples=8, draws=40, local_reach=0.2, polish_steps=3, candidates=64))
SPACE = Space({"x": Real(0, 1), "y": Real(0, 1)})
X = torch.rand(30, 2, generator=torch.Generator().manual_seed(1))
CONFIDENCE = torch.full((2,), 0.95)


def seen(belief, seed: int = 0) -> Context:
    return Context(belief, SPACE, CONFIDENCE, torch.Generator().manual_seed(seed))


def again(a):
    """The analysis with the random numbers of a new question."""
    return a._replace(context=seen(a.context.belief))


def analyzed(seed: int = 1, **given) -> Any:
    belief = replace(make_belief(rows=3, seed=seed, **given), kinds=("gaussian", "gaussian", "probit"))
    return analyze(QUICK, seen(belief))


def test_what_a_run_measures_counts_with_the_probability_of_its_success():
    a = analyzed()
    gains, likely = a.acquisition(X), feasibility(a.context.belief, X)
    task_options = TaskOptions(torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), (2, None), fixed_prices(torch.ones(2)))
    found = task_worth(task_options, a.rule, a.acquisition, a.context.belief, X)
    torch.testing.assert_close(found[:, 0], gains[:, 2] + likely[:, 2] * gains[:, :2].sum(-1))
    torch.testing.assert_close(found[:, 1], gains[:, 0])


def test_the_probability_of_a_yes_is_that_of_the_noisy_latent_function():
    belief = analyzed().context.belief
    noise = torch.randn(400_000, generator=torch.Generator().manual_seed(0))
    latent = belief.mean(X[:3])[2] + belief.variance(X[:3])[2].sqrt() * noise[:, None]
    expected = torch.special.ndtr(latent).mean(0)
    torch.testing.assert_close(feasibility(belief, X[:3])[:, 2], expected, rtol=0, atol=3e-3)


def test_a_price_that_depends_on_the_point_moves_the_question():
    a = analyzed()
    task_options = TaskOptions(torch.ones(1, 3), (None,), fixed_prices(torch.ones(1)))
    free = choose(again(a), task_options)
    steep = task_options._replace(prices=lambda x: torch.exp(20 * (x[:, :1] - free.u[0]).abs().neg() + 20))
    moved = choose(again(a), steep)
    assert (moved.u[0] - free.u[0]).abs() > 0.1
    assert moved.price < float(steep.prices(free.u[None]))


def test_questions_keep_to_where_the_constraints_probably_hold():
    for seed in range(3):
        a = analyzed(seed, offsets=(2.0, 4.0))
        task_options = TaskOptions(torch.ones(1, 3), (None,), fixed_prices(torch.ones(1)))
        for floor in (0.5, 0.9):
            found = choose(again(a), task_options, floor)
            assert assess(a.context.belief, found.u[None], CONFIDENCE).log_probability.sum().exp() >= floor - 1e-9
            drawn = draw(
                a, task_options, worth_at_optima(a, task_options), X[:0], torch.Generator().manual_seed(0), floor
            )
            likely = assess(a.context.belief, a.acquisition.optima.chosen.x, CONFIDENCE).log_probability.sum(0).exp()
            if (likely >= floor).any():
                assert assess(a.context.belief, drawn.u[None], CONFIDENCE).log_probability.sum().exp() >= floor


def test_where_no_point_is_probable_enough_the_likeliest_are_asked():
    a = analyzed(offsets=(-3.0, -3.0))
    task_options = TaskOptions(torch.ones(1, 3), (None,), fixed_prices(torch.ones(1)))
    found = choose(again(a), task_options, 0.99)
    everywhere = assess(a.context.belief, X, CONFIDENCE).log_probability.sum(0)
    here = assess(a.context.belief, found.u[None], CONFIDENCE).log_probability.sum()
    assert here >= everywhere.quantile(0.8)


def test_a_draw_is_an_x_star_that_was_not_taken_and_the_task_of_most_gain_per_cost_there():
    a = analyzed()
    task_options = TaskOptions(torch.eye(3), (None,) * 3, fixed_prices(torch.tensor([5.0, 1.0, 1.0])))
    taken = torch.zeros(0, 2)
    for i in range(len(a.acquisition.optima.chosen.x)):
        found = draw(a, task_options, worth_at_optima(a, task_options), taken, torch.Generator().manual_seed(i))
        assert torch.cdist(found.u[None], a.acquisition.optima.chosen.x).min() < 1e-12
        assert not len(taken) or torch.cdist(found.u[None], taken).min() > 1e-3
        acquisition = a.acquisition(found.u[None])[0] / task_options.prices(found.u[None])[0]
        assert found.task == int(acquisition.argmax())
        taken = torch.cat([taken, found.u[None]])
    beyond = draw(a, task_options, worth_at_optima(a, task_options), taken, torch.Generator().manual_seed(99))
    assert 0 < torch.cdist(beyond.u[None], taken).min() < 0.5


def test_an_update_without_news_decides_as_well_as_the_analysis():
    a = analyzed()
    task_options = TaskOptions(torch.ones(1, 3), (None,), fixed_prices(torch.ones(1)))
    updated = update(a, seen(a.context.belief))
    one, two = (choose(again(each), task_options) for each in (a, updated))
    assert updated.is_full
    torch.testing.assert_close(one.u, two.u)
