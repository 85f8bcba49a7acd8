import pytest
import torch

from pesky.likelihood import LIKELIHOODS, Likelihoods
from pesky.likelihood.rows import GAUSSIAN, PROBIT

ROWS = Likelihoods(("gaussian", "probit", "gaussian", "probit"))


def moments(m: int = 3) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    mean = torch.randn(2, 4, m, 5, generator=generator)
    return mean, torch.rand(2, 4, m, 5, generator=generator) + 0.1, torch.rand(2, 4, generator=generator)


def test_every_kind_has_its_name():
    assert [likelihood.kind for likelihood in LIKELIHOODS.values()] == list(LIKELIHOODS)
    assert list(ROWS) == [GAUSSIAN, PROBIT, GAUSSIAN, PROBIT]


def test_each_row_has_the_entropy_of_its_own_likelihood():
    mean, variance, noise = moments()
    found = ROWS.entropy(mean, variance, noise)
    for j, likelihood in enumerate(ROWS):
        own = likelihood.entropy(mean[:, j], variance[:, j], noise[:, j, None, None])
        torch.testing.assert_close(found[:, j], own, rtol=0, atol=0)


def test_one_variance_may_serve_beliefs_that_differ_in_their_means():
    mean, variance, noise = moments()
    shared = variance[..., :1, :]
    torch.testing.assert_close(ROWS.entropy(mean, shared, noise), ROWS.entropy(mean, shared.expand_as(mean), noise))
    numbers = Likelihoods(("gaussian",) * 4)
    assert numbers.entropy(mean, shared, noise).shape == shared.shape


def test_each_row_has_the_feasibility_of_its_own_likelihood():
    mean, variance, _ = (part[:, :, 0] if part.dim() == 4 else part for part in moments())
    found = ROWS.feasibility(mean, variance)
    for j, likelihood in enumerate(ROWS):
        deviation = (variance[:, j] + (1.0 if likelihood is PROBIT else 0.0)).sqrt()
        torch.testing.assert_close(found[:, j], torch.special.ndtr(mean[:, j] / deviation))
    torch.testing.assert_close(ROWS.log_feasibility(mean, variance).exp(), found)
    torch.testing.assert_close(ROWS.z_score(mean, variance), mean / ROWS.deviation(variance))
    rest = ROWS.constraints.feasibility(mean[:, 1:], variance[:, 1:])
    torch.testing.assert_close(rest, found[:, 1:])


def test_rows_are_selected_and_told_apart():
    assert ROWS.is_gaussian.tolist() == ROWS.is_settled_by_repeating.tolist() == [True, False, True, False]
    assert ROWS.select(~ROWS.is_gaussian).kinds == ("probit", "probit")
    assert ROWS.fixed_noise.isnan().tolist() == [True, False, True, False]
    assert len(ROWS.constraints) == 3
    assert ROWS.constraints[0] is PROBIT


def test_a_kind_that_is_not_there_is_an_error():
    with pytest.raises(KeyError):
        Likelihoods(("poisson",))[0]
