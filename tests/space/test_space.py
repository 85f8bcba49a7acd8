"""The space: values to the unit cube and back, snapping, designs, neighbors, answers to mistakes."""

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from pesky import Choice, DataError, Integer, Problem, Real
from pesky.space import Space, columns

MIXED = Space.of(
    Problem(
        {
            "rate": Real(1e-5, 1e-1, log=True),
            "units": Integer(10, 500),
            "shape": Choice(["round", "square", 3]),
            "width": Real(-2, 5),
            "batch": Integer(1, 256, log=True),
        },
        minimize="f",
    )
)
PARAMS = {"rate": 1e-3, "units": 77, "shape": "square", "width": 0.0, "batch": 32}


def values(parameter):
    if isinstance(parameter, Choice):
        return st.sampled_from(parameter.options)
    number = st.integers if isinstance(parameter, Integer) else st.floats
    return number(parameter.low, parameter.high)


PARAMETERS = (
    st.builds(
        lambda low, ratio, log: Real(low, low * ratio, log),
        st.floats(1e-6, 1e6),
        st.floats(1.01, 1e6),
        st.booleans(),
    )
    | st.builds(lambda low, span: Real(low, low + span), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
    | st.builds(
        lambda low, span, log: Integer(low, low + span, log),
        st.integers(1, 10**11),
        st.integers(1, 10**11),
        st.booleans(),
    )
    | st.builds(lambda low, span: Integer(low, low + span), st.integers(-(10**12), 0), st.integers(1, 10**12))
    | st.lists(st.text() | st.integers(), min_size=2, max_size=5, unique=True).map(Choice)
)


@given(st.dictionaries(st.text("abcdef", min_size=1), PARAMETERS, min_size=1, max_size=4), st.data())
def test_decode_undoes_encode(parameters, data):
    space = Space(parameters)
    params = {name: data.draw(values(parameter)) for name, parameter in parameters.items()}
    u = space.encode(params)
    assert u.shape == (space.dim,)
    assert ((u >= 0) & (u <= 1)).all()
    decoded = space.decode(u)
    space.check(decoded)
    for name, parameter in parameters.items():
        if isinstance(parameter, Real):
            close = 1e-12 * max(abs(parameter.low), abs(parameter.high))
            assert decoded[name] == pytest.approx(params[name], abs=close)
        else:
            assert decoded[name] == params[name]
            assert type(decoded[name]) is type(params[name])
    torch.testing.assert_close(space.snap(u), u, rtol=0, atol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=MIXED.dim, max_size=MIXED.dim))
def test_snap_gives_the_point_of_the_decoded_values(numbers):
    u = torch.tensor(numbers)
    snapped = MIXED.snap(u)
    torch.testing.assert_close(snapped, MIXED.encode(MIXED.decode(u)), rtol=0, atol=1e-12)
    torch.testing.assert_close(MIXED.snap(snapped), snapped, rtol=0, atol=1e-12)
    assert torch.equal(snapped[MIXED.continuous], u[MIXED.continuous])


def test_columns_are_one_each_and_one_hot_for_choices():
    assert MIXED.dim == 7
    assert MIXED.continuous.tolist() == [True, False, False, False, False, True, False]
    assert not MIXED.is_continuous
    u = MIXED.encode(PARAMS)
    expected = [0.5, 67.5 / 491, 0, 1, 0, 2 / 7, math.log(32 / 0.5) / math.log(256.5 / 0.5)]
    torch.testing.assert_close(u, torch.tensor(expected))


def test_every_integer_has_a_cell_of_the_same_width():
    space = Space({"n": Integer(0, 3)})
    decoded = [space.decode(u)["n"] for u in torch.linspace(0.001, 0.999, 400).unsqueeze(-1)]
    assert [decoded.count(n) for n in range(4)] == [100] * 4
    assert space.snap(torch.tensor([[0.0], [0.3], [1.0]])).flatten().tolist() == [0.125, 0.375, 0.875]


def test_points_outside_the_cube_decode_within_bounds():
    for u in (torch.full((7,), -0.2), torch.full((7,), 1.2)):
        MIXED.check(MIXED.decode(u))


def test_the_gradient_passes_through_real_columns_alone():
    U = torch.rand(3, 4, MIXED.dim, generator=torch.Generator().manual_seed(0)).requires_grad_()
    weights = torch.arange(1.0, MIXED.dim + 1)
    (gradient,) = torch.autograd.grad((MIXED.snap(U) * weights).sum(), U)
    assert torch.equal(gradient, (weights * MIXED.continuous).expand(3, 4, -1))


def test_a_space_without_real_columns_has_no_gradient_and_no_error():
    space = Space({"c": Choice(["a", "b"])})
    U = torch.rand(3, 2, requires_grad=True)
    assert torch.equal(torch.autograd.grad(space.snap(U).sum(), U)[0], torch.zeros(3, 2))


@pytest.mark.parametrize(
    "parameter", [Real(1e-4, 10, log=True), Real(1e-5, 1e-1, log=True), Real(3e-7, 0.7, log=True), Real(-0.1, 0.3)]
)
def test_the_ends_of_the_cube_are_the_bounds_exactly(parameter):
    space, U = Space({"x": parameter}), torch.tensor([[0.0], [1e-15], [0.5], [1 - 1e-15], [1.0]]).double()
    values = [space.decode(u)["x"] for u in U]
    assert values[:2] == [parameter.low] * 2
    assert values[3:] == [parameter.high] * 2
    assert space.decode_all(U)["x"].tolist() == values
    assert space.decode(space.encode({"x": parameter.high}))["x"] == parameter.high


def test_the_rounding_of_a_logarithm_stays_in_the_cube():
    # log(low) in torch and in Python differ in the last digit here: the bound would be at -5e-19
    space = Space({"x": Real(0.9715792922106726, 892.9279397924362, log=True)})
    assert space.encode({"x": 0.9715792922106726}).item() >= 0


def test_a_uniform_number_that_rounds_to_one_still_chooses():
    # (2 + within) / 3 is 1 for the largest `within` below 1
    assert columns.place(Choice(["a", "b"]), torch.tensor([0.0, 0.5, 1.0])).tolist() == [
        [1, 0],
        [0, 1],
        [0, 1],
    ]


def test_a_continuous_space_is_left_as_it_is():
    space = Space({"x": Real(0, 1), "y": Real(1, 2)})
    U = torch.rand(5, 2)
    assert space.is_continuous
    assert space.snap(U) is U
    assert space.neighbors(U[0]).shape == (0, 2)
    combinations = space.combinations(1)
    assert combinations is not None
    assert torch.equal(combinations, torch.zeros(1, 2))


def test_sobol_points_are_snapped_seeded_and_even():
    U = MIXED.sobol(64, seed=3)
    assert U.shape == (64, 7)
    assert U.dtype == torch.float64
    assert torch.equal(U, MIXED.sobol(64, seed=3))
    assert not torch.equal(U, MIXED.sobol(64, seed=4))
    torch.testing.assert_close(MIXED.snap(U), U, rtol=0, atol=1e-12)
    assert torch.equal((U[:, 0] * 64).long().sort().values, torch.arange(64))
    assert U[:, 2:5].sum(0).min() >= 20


@pytest.mark.parametrize("count", [1, 3, 9])
def test_a_latin_hypercube_has_one_point_in_each_layer(count):
    U = MIXED.latin(count, torch.Generator().manual_seed(0))
    assert U.shape == (count, 7)
    for column in (0, 5):
        assert torch.equal((U[:, column] * count).long().sort().values, torch.arange(count))
    torch.testing.assert_close(MIXED.snap(U), U, rtol=0, atol=1e-12)
    if count % 3 == 0:
        assert U[:, 2:5].sum(0).tolist() == [count / 3] * 3
    assert torch.equal(U, MIXED.latin(count, torch.Generator().manual_seed(0)))


def test_double_moves_are_of_two_integers():
    space = Space({"a": Integer(0, 9), "x": Real(0, 1), "b": Integer(0, 90, step=10), "kind": Choice(["u", "v"])})
    here = {"a": 0, "x": 0.3, "b": 20, "kind": "v"}
    found = [space.decode(u) for u in space.double_moves(space.encode(here))]
    assert all(each["x"] == pytest.approx(0.3) and each["kind"] == "v" for each in found)
    pairs = {(each["a"], each["b"]) for each in found}
    assert pairs == {(1, 10 * b) for b in range(7) if b != 2} | {(a, b) for a in (1, 2, 3, 4) for b in (10, 30)}
    assert space.double_moves(space.encode(here), far=1).shape == (4, 5)
    assert Space({"a": Integer(0, 9), "x": Real(0, 1)}).double_moves(torch.rand(2)).shape == (0, 2)


def test_neighbors_are_one_discrete_move_away():
    near = [MIXED.decode(u) for u in MIXED.neighbors(MIXED.encode(PARAMS))]
    moved = [{name: value for name, value in each.items() if value != pytest.approx(PARAMS[name])} for each in near]
    assert {each["units"] for each in moved if "units" in each} == {76, 78, 28, 126}
    assert {each["shape"] for each in moved if "shape" in each} == {"round", 3}
    assert {each["batch"] for each in moved if "batch" in each} == {31, 33, 17, 60}
    assert all(len(each) == 1 for each in moved)


def test_neighbors_stay_within_bounds_without_repeats():
    space = Space({"n": Integer(0, 4)})
    assert [space.decode(u)["n"] for u in space.neighbors(space.encode({"n": 0}))] == [1]
    assert [space.decode(u)["n"] for u in space.neighbors(space.encode({"n": 2}))] == [1, 3]
    space = Space({"n": Integer(0, 9)})  # here the next ones are also a tenth of the range away
    assert [space.decode(u)["n"] for u in space.neighbors(space.encode({"n": 5}))] == [4, 6]


def test_neighbors_of_an_unsnapped_point_are_snapped():
    U = MIXED.neighbors(torch.full((7,), 0.33))
    torch.testing.assert_close(MIXED.snap(U), U, rtol=0, atol=1e-12)


def test_combinations_are_every_value_of_the_discrete_columns():
    space = Space({"n": Integer(1, 2), "x": Real(0, 1), "c": Choice(["a", "b", "c"])})
    U = space.combinations(6)
    assert U is not None
    found = [(each["n"], each["c"]) for each in map(space.decode, U)]
    assert found == [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "b"), (2, "c")]
    assert torch.equal(U[:, 1], torch.zeros(6))
    torch.testing.assert_close(space.snap(U), U)
    assert space.combinations(5) is None
    assert MIXED.combinations(10_000) is None


def test_candidates_go_through_every_combination_and_vary_the_real_columns():
    space = Space({"n": Integer(1, 9), "x": Real(0, 1), "c": Choice(["a", "b", "c"])})
    U = space.spread(54, seed=0)
    found = [(each["n"], each["c"]) for each in map(space.decode, U)]
    assert all(found.count(pair) == 2 for pair in found)  # 27 combinations
    assert len(U[:, 1].unique()) == 54
    torch.testing.assert_close(space.snap(U), U)
    for other in (MIXED, Space({"x": Real(0, 1)})):
        assert torch.equal(other.spread(16, seed=1), other.sobol(16, seed=1))


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_only_values_within_bounds_belong(value):
    assume(not -2 <= value <= 5)
    with pytest.raises(DataError, match="'width'"):
        MIXED.check({**PARAMS, "width": value})


def test_numpy_numbers_belong():
    MIXED.check({**PARAMS, "units": np.int64(77), "rate": np.float64(1e-3), "width": 2})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"unit": 5}, ["unknown parameter 'unit'", "'units'", "Did you mean 'units'?"]),
        ({"units": 9}, ["'units'", "was 9", "a whole number from 10 to 500"]),
        ({"units": 501}, ["'units'", "501"]),
        ({"units": 77.0}, ["'units'", "77.0", "a whole number"]),
        ({"units": True}, ["'units'", "True"]),
        ({"units": 10**400}, ["'units'", "a whole number"]),
        ({"rate": 0.2}, ["'rate'", "0.2", "a number from 1e-05 to 0.1"]),
        ({"rate": 0}, ["'rate'", "0"]),
        ({"rate": math.nan}, ["'rate'", "nan"]),
        ({"rate": math.inf}, ["'rate'", "inf"]),
        ({"rate": "fast"}, ["'rate'", "'fast'", "a number"]),
        ({"rate": None}, ["'rate'", "None"]),
        ({"width": True}, ["'width'", "True", "a number"]),
        ({"shape": "oval"}, ["'shape'", "'oval'", "one of 'round', 'square', 3"]),
        ({"shape": ["round"]}, ["'shape'", "['round']"]),
    ],
)
def test_a_value_that_does_not_belong_is_answered_in_words(change, said):
    with pytest.raises(DataError) as raised:
        MIXED.check({**PARAMS, **change})
    assert all(part in str(raised.value) for part in said), raised.value


def test_a_missing_value_is_answered_in_words():
    with pytest.raises(DataError, match="'units' is missing: expected a whole number from 10 to 500"):
        MIXED.encode({name: value for name, value in PARAMS.items() if name != "units"})


def test_the_size_of_a_space():
    assert Space({"x": Integer(0, 3), "y": Integer(0, 3)}).size == 16
    assert Space({"n": Integer(1, 10**12), "kind": Choice(["a", "b", "c"])}).size == 3 * 10**12
    assert Space({"n": Integer(1, 5), "x": Real(0, 1)}).size is None


def test_whole_numbers_of_many_values_are_graded_as_real_ones_are():
    space = Space({"r": Real(0, 1), "few": Integer(0, 30), "many": Integer(0, 31), "coarse": Integer(0, 100, step=10)})
    assert space.graded.tolist() == [True, False, True, False]
    assert not Space({"c": Choice(["a", "b", "c"])}).graded.any()
