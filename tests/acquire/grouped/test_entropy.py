"""Entropies of estimated moments: right on average, however few the samples."""

import pytest
import torch
from torch import Tensor

from pesky.acquire.grouped.entropy import answer_entropy, number_entropy
from pesky.acquire.grouped.moments import GroupMoments


def estimated(n: int, mean: float, sampled: float, known: float, repetitions: int) -> GroupMoments:
    """Moments from n samples of variance `sampled`, beside a known variance: every repetition is an x."""
    drawn = mean + sampled**0.5 * torch.randn(n, repetitions, generator=torch.Generator().manual_seed(n))
    variance = drawn.var(0)[None, None]
    freedom = torch.full((1, 1, 1), float(n - 1))
    return GroupMoments(drawn.mean(0)[None, None], known + variance, torch.zeros_like(variance), variance, freedom)


def assert_mean(values: Tensor, expected: float, margin: float) -> None:
    error = values.std() / values.numel() ** 0.5
    assert float(values.mean()) == pytest.approx(expected, abs=float(4 * error) + margin)


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_the_entropy_of_a_number_is_right_on_average_down_to_two_samples(n: int):
    entropy = number_entropy(estimated(n, 0.0, 2.0, 0.0, 200_000), torch.full((1,), 1e-12))
    assert_mean(entropy, 0.5 * float(torch.tensor(2.0).log()), 0.0)


@pytest.mark.parametrize("n", [10, 40])
def test_a_known_part_of_the_variance_has_no_bias(n: int):
    entropy = number_entropy(estimated(n, 0.0, 0.5, 0.6, 200_000), torch.full((1,), 0.4))
    assert_mean(entropy, 0.5 * float(torch.tensor(1.5).log()), 0.05 / n**2)


@pytest.mark.parametrize("mean", [0.0, 0.8, -1.5])
@pytest.mark.parametrize("n", [10, 40])
def test_the_entropy_of_an_answer_is_right_on_average(n: int, mean: float):
    entropy = answer_entropy(estimated(n, mean, 0.7, 0.3, 200_000), torch.full((1, 1, 1), float(n)))
    p = torch.special.ndtr(torch.tensor(mean / 2**0.5))
    exact = float(-(torch.xlogy(p, p) + torch.xlogy(1 - p, 1 - p)))
    # uncorrected it is off by 0.01 to 0.02 at n = 10
    assert_mean(entropy, exact, 0.3 / n**2)


def test_what_is_pending_moves_the_mean_and_the_entropy_is_expected_over_it():
    moments = GroupMoments(*(torch.full((1, 1, 1), v) for v in (0.4, 0.5, 0.9, 0.0, 1.0)))
    entropy = answer_entropy(moments, torch.full((1, 1, 1), 1e9))
    z = 0.4 + 0.9**0.5 * torch.special.ndtri((torch.arange(100_000) + 0.5) / 100_000)
    p = torch.special.ndtr(z / 1.5**0.5)
    expected = -(torch.xlogy(p, p) + torch.xlogy(1 - p, 1 - p)).mean()
    assert float(entropy) == pytest.approx(float(expected), abs=1e-5)
