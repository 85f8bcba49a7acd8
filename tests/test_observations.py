"""The data: rows, padding, directions, exact thresholds, scales, noise, and the answer to every mistake."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pesky import Constraint, DataError, Problem, Real
from pesky.numerics.warp import Warp
from pesky.observations import FAR, Observations, collect, observe, stack
from pesky.problem import Task
from pesky.problem.outcome_values import check_outcomes
from pesky.space import Space


def problem(noise=None, **objective) -> Problem:
    objective = objective or {"minimize": "f"}
    return Problem(
        {"x": Real(0, 1), "y": Real(0, 1)},
        constraints=["a <= 2", "b >= 0.1", "e >= -1"],
        noise=noise,
        **objective,
    )


def points(*outcomes):
    return [(torch.tensor([0.1 * n, 0.5]), each) for n, each in enumerate(outcomes)]


def gather(given, *outcomes):
    """Where the problem has an outcome e, it has the values of a, and so another row of them."""
    again = [{**each, "e": each["a"]} if "e" in given.outcomes and "a" in each else each for each in outcomes]
    return collect(given, Space.of(given), points(*again))


def test_each_row_has_its_own_points_padded_to_the_longest():
    seen = gather(problem(), {"f": 1, "a": 0}, {"a": 4}, {"b": 0.3}, {}, {"f": 3.0, "a": 2.0, "b": 0.1})
    assert seen.X.shape == (4, 3, 2)
    assert seen.mask.tolist() == [[True, True, False], [True] * 3, [True, True, False], [True] * 3]
    torch.testing.assert_close(seen.X[..., 0], torch.tensor([[0, 0.4, 0], [0, 0.1, 0.4], [0.2, 0.4, 0], [0, 0.1, 0.4]]))
    assert (seen.y[~seen.mask] == 0).all()
    sd = math.sqrt(8 / 3)
    torch.testing.assert_close(
        seen.y, torch.tensor([[-1, 1, 0], [2 / sd, -2 / sd, 0], [2, 0, 0], [1 / sd, 5 / sd, 3 / sd]])
    )
    torch.testing.assert_close(seen.direction, torch.tensor([1.0, -1, 1, 1]))
    torch.testing.assert_close(seen.offset, torch.tensor([2, -2, 0.1, -1]))
    torch.testing.assert_close(seen.scale, torch.tensor([1, sd, 0.1, sd]))


def test_maximizing_minimizes_the_negative():
    up, down = gather(problem(maximize="f"), {"f": 1}, {"f": 5}), gather(problem(), {"f": -1}, {"f": -5})
    assert torch.equal(up.y[0], down.y[0])
    torch.testing.assert_close(up.to_user(0, up.y[0]), torch.tensor([1.0, 5]))


def test_nothing_measured_gives_no_columns():
    seen = gather(problem())
    assert (seen.X.shape, seen.y.shape, seen.mask.shape) == ((4, 0, 2), (4, 0), (4, 0))
    assert torch.equal(seen.offset, torch.tensor([0, -2, 0.1, -1]))
    assert torch.equal(seen.scale, torch.ones(4))


def test_without_constraints_there_is_one_row():
    unconstrained = Problem({"x": Real(0, 1), "y": Real(0, 1)}, minimize="f")
    assert gather(unconstrained, {"f": 2.0}, {"f": 4.0}).y.tolist() == [[-1, 1]]


def test_a_single_or_constant_row_is_scaled_by_its_distance_to_the_threshold():
    seen = gather(problem(), {"f": 7, "a": 5, "b": 0.1}, {"f": 7, "b": 0.1})
    assert torch.equal(seen.scale, torch.tensor([1.0, 3, 1, 6]))
    assert torch.equal(seen.y, torch.tensor([[0.0, 0], [-1, 0], [0, 0], [1, 0]]))


def test_noise_is_a_variance_in_scaled_units():
    seen = gather(problem(noise={"f": 0.5, "b": 0}), {"f": 1, "b": 1}, {"f": 5, "b": 3})
    torch.testing.assert_close(seen.noise, torch.tensor([1 / 16, math.nan, 0, math.nan]), equal_nan=True)


FINITE = st.floats(-1e300, 1e300).filter(lambda value: value == 0 or abs(value) > 1e-290)


@given(st.lists(FINITE, min_size=1, max_size=6), FINITE, st.sampled_from([">=", "<="]))
def test_scaled_values_keep_the_side_of_the_threshold_and_come_back(values, threshold, sense):
    constraint = Constraint("c", sense, threshold)
    given = Problem({"x": Real(0, 1), "y": Real(0, 1)}, minimize="f", constraints=[constraint])
    seen = gather(given, *({"f": value, "c": value} for value in values))
    numbers = torch.tensor(values)
    assert seen.y.isfinite().all()
    assert (seen.scale > 0).all()
    feasible = numbers >= threshold if sense == ">=" else numbers <= threshold
    assert torch.equal(seen.y[1] >= 0, feasible)
    assert torch.equal(seen.from_user(1, torch.tensor(threshold)), torch.tensor(0.0))
    assert seen.to_user(1, torch.tensor(0.0)) == threshold
    size = max(map(abs, [*values, threshold]))
    for row in (0, 1):
        near = seen.y[row].abs() < FAR
        again = seen.to_user(row, seen.y[row])
        torch.testing.assert_close(again[near], numbers[near], rtol=1e-12, atol=1e-12 * size)
        torch.testing.assert_close(seen.from_user(row, numbers), seen.y[row])


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_tiny_and_huge_values_are_scaled_like_others(size):
    seen = gather(problem(), {"f": 1 * size}, {"f": 3 * size})
    torch.testing.assert_close(seen.y[0], torch.tensor([-1.0, 1]))


def constrained(threshold: float, noise: float | None = None) -> Problem:
    space = {"x": Real(0, 1), "y": Real(0, 1)}
    return Problem(space, minimize="f", constraints=[Constraint("c", ">=", threshold)], noise=noise)


@pytest.mark.parametrize("threshold", [1e308, -1e308, 1.7e308, 1e154, -1e154, 1e6])
def test_what_is_far_from_its_threshold_is_so_far_and_no_further(threshold):
    """Its square is a number, as that of 1e308 is not; the unit stays that of the values."""
    side = -math.copysign(FAR, threshold)
    for values in ([1.0, 3.0], [-1.6e308, 1.6e308], [1e-300, 3e-300]):
        seen = gather(constrained(threshold), *({"f": value, "c": value} for value in values))
        assert seen.y.isfinite().all()
        assert ((seen.y[1] >= 0) == (torch.tensor(values) >= threshold)).all()
    seen = gather(constrained(threshold), {"c": 1.0}, {"c": 3.0})
    assert seen.y[1].tolist() == [side, side]
    assert seen.scale[1] == 1.0
    assert seen.from_user(1, torch.tensor(2.0)) == side


def test_a_single_value_far_from_its_threshold_has_a_unit_whose_square_is_a_number():
    for threshold in (1e308, 1e154):
        seen = gather(constrained(-threshold), {"c": 1.0})
        assert seen.y[1].tolist() == [FAR]
        assert 0 < seen.scale[1].square() < math.inf
    assert gather(constrained(-1e9), {"c": 0.0}).y[1].tolist() == [1.0]


def test_values_in_the_units_of_others_keep_their_side_however_much_they_grew():
    before = gather(constrained(0.5, 0.1), {"f": 1, "c": 1}, {"f": 3, "c": 0.0})
    after = gather(constrained(0.5, 0.1), {"f": 1e300, "c": 1}, {"f": 3, "c": -1e300}).in_units_of(before)
    assert after.y.isfinite().all()
    assert after.y[0, 0] == FAR
    assert after.y[1].tolist() == [1.0, -FAR]
    assert after.noise.isfinite().all()


def test_a_noise_far_above_all_values_has_a_variance():
    seen = gather(constrained(0.0, 0.1), {"f": 1e-200, "c": 1}, {"f": 3e-200, "c": 1})
    assert seen.noise.isfinite().all()


def test_whatever_is_one_number_is_a_value():
    given = {"f": np.float32(0.5), "a": torch.tensor([2.0]), "b": True}
    assert check_outcomes(problem(), given) == {"f": 0.5, "a": 2.0, "b": 1.0}
    given = {"f": np.array([1.0]), "a": np.array([[3]]), "b": torch.tensor(2.0, requires_grad=True)}
    assert check_outcomes(problem(), given) == {"f": 1.0, "a": 3.0, "b": 2.0}


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ({"A": 1}, ["unknown outcome 'A'", "'f', 'a', 'b'"]),
        ({"f": math.nan}, ["'f'", "nan", "finite number", "leave it out"]),
        ({"f": math.inf}, ["'f'", "inf", "finite number"]),
        ({"f": 1, "a": -math.inf}, ["'a'", "-inf"]),
        ({"f": "1"}, ["'f'", "'1'", "finite number"]),
        ({"f": None}, ["'f'", "None"]),
        ({"f": 10**400}, ["'f'", "finite number"]),
        ({"f": torch.zeros(2)}, ["'f'", "tensor", "finite number"]),
        ({"f": np.zeros(2)}, ["'f'", "array", "finite number"]),
        ({"f": np.array(["1"])}, ["'f'", "finite number"]),
        ({"f": 1j}, ["'f'", "finite number"]),
    ],
)
def test_a_value_that_does_not_fit_is_answered_in_words(outcomes, said):
    with pytest.raises(DataError) as raised:
        check_outcomes(problem(), outcomes)
    assert all(part in str(raised.value) for part in said), raised.value


def test_collecting_checks_outcomes_and_points():
    with pytest.raises(DataError, match="'f' was nan"):
        gather(problem(), {"f": math.nan})
    with pytest.raises(DataError, match=r"shape \(3,\): expected \(2,\)"):
        collect(problem(), Space.of(problem()), [(torch.zeros(3), {"f": 1.0})])


def answers() -> Problem:
    """Yes/no outcomes of either kind, and a task whose own failures are learnt."""
    return Problem(
        {"x": Real(0, 1), "y": Real(0, 1)},
        minimize="f",
        constraints=["ok is true", "a <= 2", "crash is false"],
        tasks={"mesh": Task(["ok", "a"]), "solve": Task(["f", "crash"], failures="learn")},
        noise=0.1,
    )


def test_a_yes_or_no_is_plus_one_where_it_is_the_wanted_answer():
    seen = gather(
        answers(), {"f": 1, "ok": True, "crash": 0}, {"ok": 0.0, "solve succeeds": 0}, {"solve succeeds": 1.0}
    )
    assert answers().rows == ("f", "ok", "a", "crash", "solve succeeds")
    assert seen.kinds == ("gaussian", "probit", "gaussian", "probit", "probit")
    assert torch.equal(seen.y, torch.tensor([[0.0, 0], [1, -1], [0, 0], [1, 0], [-1, 1]]))
    assert seen.mask.tolist() == [[True, False], [True, True], [False, False], [True, False], [True, True]]
    assert torch.equal(seen.offset, torch.tensor([1.0, 0, -2, 0, 0]))
    assert torch.equal(seen.scale, torch.ones(5))
    assert torch.equal(seen.direction, torch.tensor([1.0, 1, -1, -1, 1]))
    assert seen.noise.isnan().tolist() == [False, True, False, True, True]


def test_numbers_are_gaussian():
    assert set(gather(problem(), {"f": 1.0}).kinds) == {"gaussian"}


def test_rows_can_be_selected():
    seen = gather(answers(), {"f": 1, "ok": True, "crash": 0}, {"ok": False})
    some = seen.select(~seen.likelihoods.is_gaussian)
    assert some.kinds == ("probit",) * 3
    assert torch.equal(some.y, seen.y[[1, 3, 4]])
    assert torch.equal(some.X, seen.X[[1, 3, 4]])
    assert torch.equal(some.direction, seen.direction[[1, 3, 4]])


@pytest.mark.parametrize(
    "yes", [True, 1, 1.0, np.True_, np.array([True]), np.array(1), torch.tensor([True]), np.int8(1)]
)
def test_whatever_is_a_yes_is_one(yes):
    told = check_outcomes(answers(), {"ok": yes})
    assert told == {"ok": 1.0}
    assert type(told["ok"]) is float


@pytest.mark.parametrize("no", [False, 0, -0.0, np.False_, np.array([0.0]), torch.tensor(0)])
def test_whatever_is_a_no_is_zero(no):
    assert check_outcomes(answers(), {"crash": no}) == {"crash": 0.0}


@pytest.mark.parametrize(
    "given", [2, 0.5, -1, math.nan, math.inf, None, "yes", "true", np.array([True, False]), [True]]
)
def test_whatever_is_neither_is_refused_in_words(given):
    with pytest.raises(DataError, match=r"'ok' was .*yes or no.*True or False"):
        check_outcomes(answers(), {"ok": given})


def test_success_is_not_for_users_to_tell():
    with pytest.raises(DataError, match="unknown outcome 'solve succeeds'"):
        check_outcomes(answers(), {"solve succeeds": 1.0})
    with pytest.raises(DataError, match=r"'solve succeeds' was 0\.5: it is a yes or no"):
        gather(answers(), {"solve succeeds": 0.5})
    with pytest.raises(DataError, match="unknown outcome 'mesh succeeds'"):
        gather(answers(), {"mesh succeeds": 1.0})


def test_the_opposite_question_with_opposite_answers_gives_the_same_data():
    space = {"x": Real(0, 1), "y": Real(0, 1)}
    one, other = (Problem(space, minimize="f", constraints=[text]) for text in ("good is true", "good is false"))
    told = [{"good": answer} for answer in (True, False, True)]
    flipped = [{"good": not each["good"]} for each in told]
    assert torch.equal(gather(one, *told).y, gather(other, *flipped).y)


def test_rows_that_are_at_hand_are_observed_as_they_are_collected():
    given = Problem({"x": Real(0, 1), "y": Real(0, 1)}, maximize="f", constraints=["a <= 2", "ok is true"], noise=0.1)
    told = [{"f": 1.0, "a": 5.0, "ok": 1.0}, {"f": 3.0, "ok": 0.0}, {"a": 1.0}]
    measured = points(*told)
    at = [[u for u, outcomes in measured if name in outcomes] for name in given.rows]
    values = [torch.tensor([each[name] for each in told if name in each]) for name in given.rows]
    assert_same(observe(given, [torch.stack(us) for us in at], values, {}), gather(given, *told))


def test_studies_are_stacked_with_units_of_their_own():
    few = gather(problem(noise=0.1), {"f": 1, "a": 0, "b": 1})
    many = gather(problem(noise=0.1), {"f": 1, "a": 0}, {"f": 5.0, "a": 4}, {"a": 3, "b": 2.0})
    both = stack([few, many])
    assert both.X.shape == (2, 4, 3, 2)
    assert (both.y[0, :, 1:] == 0).all()
    assert not both.mask[0, :, 1:].any()
    for i, alone in enumerate((few, many)):
        one = Observations(
            both.X[i], both.y[i], both.mask[i], both.noise[i], both.direction[i], both.offset[i], both.scale[i],
            both.kinds,
        )  # fmt: skip
        assert torch.equal(one.X[one.mask], alone.X[alone.mask])
        assert torch.equal(one.y[one.mask], alone.y[alone.mask])
        for name in ("noise", "direction", "offset", "scale"):
            assert torch.equal(getattr(one, name), getattr(alone, name)), name
        values = torch.tensor([1.5, 2.5])
        torch.testing.assert_close(both.to_user(1, values)[i], alone.to_user(1, values[i]))
        torch.testing.assert_close(both.from_user(1, values)[i], alone.from_user(1, values[i]))
    rows = torch.tensor([True, False, True, False])
    assert_same(both.select(rows), stack([few.select(rows), many.select(rows)]))


def warped_and_plain() -> tuple[Observations, Observations]:
    plain = gather(problem(noise=0.1, maximize="f"), *({"f": f, "a": a, "b": 0.1 + a / 9} for f, a in zip(
        (1.0, 2.5, 9.0), (2.0, 0.5, 7.0), strict=True)))  # fmt: skip
    at = [[0.0, 1.0, 2.0, -0.5], [0.0, -1.0, 0.0, 0.3], [1.3, 0.7, 1.0, 2.0], [-1.0, 0, 0, 0]]
    return plain.warped(Warp(*(torch.tensor(part, dtype=torch.float64) for part in at))), plain


def test_warped_values_are_the_same_in_the_units_of_users():
    seen, plain = warped_and_plain()
    for row in range(4):
        torch.testing.assert_close(seen.to_user(row, seen.y[row]), plain.to_user(row, plain.y[row]))
        torch.testing.assert_close(seen.from_user(row, plain.to_user(row, plain.y[row])), seen.y[row])
    assert torch.equal(seen.y[1:] >= 0, plain.y[1:] >= 0)
    assert float(seen.to_user(1, torch.tensor(0.0))) == 2.0


def test_the_noise_of_warped_values_follows_the_slope():
    seen, plain = warped_and_plain()
    assert seen.relative_noise is not None
    given = plain.noise.sqrt()
    for row in range(4):
        for n, value in enumerate(plain.to_user(row, plain.y[row])):
            step = 1e-4 * plain.scale[row]
            moved = seen.from_user(row, value + step) - seen.from_user(row, value - step)
            slope = moved.abs() / (2e-4)
            expected = (given[row] * slope).square()
            torch.testing.assert_close(seen.noise[row] * seen.relative_noise[row, n], expected, rtol=1e-5, atol=0)


def test_expectations_in_the_units_of_users_are_those_of_the_values_there():
    seen, plain = warped_and_plain()
    mean, variance = torch.tensor([0.2, -0.1]), torch.tensor([0.3, 0.01])
    z = torch.randn(200_000, 1, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for row in range(4):
        for o in (seen, plain):
            drawn = o.to_user(row, mean + variance.sqrt() * z)
            error = 5 * drawn.std(0) / math.sqrt(len(z))
            assert ((o.mean_to_user(row, mean, variance) - drawn.mean(0)).abs() < error).all()


def test_other_observations_take_the_warp_of_those_whose_units_they_are_given_in():
    seen, _ = warped_and_plain()
    more = gather(problem(noise=0.1, maximize="f"), {"f": 30.0, "a": 1.0, "b": 0.0}).in_units_of(seen)
    torch.testing.assert_close(more.to_user(0, more.y[0]), torch.tensor([30.0]))
    torch.testing.assert_close(more.noise, seen.noise)


def assert_same(one: Observations, other: Observations) -> None:
    for name in ("X", "y", "mask", "noise", "direction", "offset", "scale"):
        torch.testing.assert_close(getattr(one, name), getattr(other, name), rtol=0, atol=0, equal_nan=True)
    assert one.kinds == other.kinds


def test_thinned_rows_keep_evenly_spaced_values_and_the_last():
    mask = torch.tensor([[True] * 10, [True] * 3 + [False] * 7])
    y = torch.where(mask, torch.arange(10.0, dtype=torch.float64), 0.0)
    one = torch.ones(2, dtype=torch.float64)
    whole = Observations(y[..., None], y, mask, one, one, one, one, ("gaussian", "gaussian"))
    some = whole.thinned(5)
    assert some.y.tolist() == [[1.0, 3.0, 5.0, 7.0, 9.0], [0.0, 1.0, 2.0, 0.0, 0.0]]
    assert some.mask.tolist() == [[True] * 5, [True] * 3 + [False] * 2]
    assert torch.equal(some.X[..., 0], some.y)
    assert whole.thinned(10) is whole
