"""A known outcome on the unit cube: its values, its gradients, and one call for many points where that is right."""

import math

import numpy as np
import pytest
import torch

from pesky import Choice, Integer, Problem, ProblemError, Real
from pesky.errors import DataError
from pesky.observations import collect
from pesky.problem import Parameter
from pesky.problem.outcome_values import check_outcomes
from pesky.space import Space
from pesky.space.exact import Exact, exact_outcomes

MIXED: dict[str, Parameter] = {
    "rate": Real(1e-3, 10, log=True),
    "units": Integer(2, 9),
    "kind": Choice(["relu", "tanh", 3]),
    "share": Real(-1, 2),
}
PLANE: dict[str, Parameter] = {"x": Real(0, 1), "y": Real(-2, 2)}


def exact(function, parameters: dict[str, Parameter] = PLANE) -> Exact:
    return Exact("cost", function, Space(parameters))


def points(n: int, d: int = 2) -> torch.Tensor:
    return torch.rand(n, d, generator=torch.Generator().manual_seed(3))


def test_many_points_are_decoded_as_each_of_them_is():
    space = Space(MIXED)
    U = torch.cat([points(50, space.dim), torch.zeros(1, space.dim), torch.ones(1, space.dim)])
    columns = space.decode_all(U)
    for i, u in enumerate(U):
        one = {name: column.tolist()[i] for name, column in columns.items()}
        assert one == space.decode(u)
        assert [type(value) for value in one.values()] == [float, int, type(one["kind"]), float]


class Counted:
    """A function that remembers how often it was called, and with what."""

    def __init__(self, function):
        self.function, self.calls = function, []

    def __call__(self, params):
        self.calls.append(params)
        return self.function(params)


def test_a_function_of_arrays_is_called_once_for_all_points():
    counted = Counted(lambda p: p["x"] + 3 * p["y"])
    known = exact(counted)
    assert known.takes_arrays
    counted.calls.clear()
    U = points(100)
    torch.testing.assert_close(known.values(U), U[:, 0] + 3 * (4 * U[:, 1] - 2))
    assert len(counted.calls) == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda p: math.sin(p["x"]) + p["y"],  # for numbers alone
        lambda p: p["y"] if p["x"] > 0.5 else 0.0,
        lambda p: {"x": p["x"]}.get("z", 1.5),  # a number, whatever it gets
        lambda p: float(np.sum(p["x"])) + p["y"],  # of arrays, something else than of each point
        lambda p: np.cumsum(np.atleast_1d(p["x"])),  # of the right shape, and wrong
    ],
)
def test_any_other_function_gets_plain_numbers_of_one_point_at_a_time(function):
    counted = Counted(function)
    known = exact(counted)
    assert not known.takes_arrays
    counted.calls.clear()
    U = points(20)
    values = known.values(U)
    assert len(counted.calls) == 20
    for u, value, given in zip(U, values.tolist(), counted.calls, strict=True):
        assert [type(each) for each in given.values()] == [float, float]
        assert value == pytest.approx(float(np.squeeze(function(Space(PLANE).decode(u)))))


def test_options_and_whole_numbers_mean_in_arrays_what_they_mean_alone():
    flags: dict[str, Parameter] = {"a": Choice([True, False]), "b": Choice([True, False]), "n": Integer(1, 60)}
    both = exact(lambda p: p["a"] + p["b"], flags)  # of truth values, numpy's own sum is an or
    assert set(both.spread.tolist()) == {0.0, 1.0, 2.0}
    large = exact(lambda p: p["n"] ** 15, flags)  # overflows in arrays of whole numbers
    assert not large.takes_arrays
    assert float(large.spread.min()) > 0


def test_the_gradient_is_that_of_the_function_along_real_columns():
    space = Space(MIXED)
    known = exact(lambda p: np.log(p["rate"]) * p["share"] ** 2 + p["units"] * (p["kind"] == "tanh"), MIXED)
    U = space.snap(torch.cat([points(30, space.dim), torch.zeros(1, space.dim), torch.ones(1, space.dim)]))
    gradients = known.gradients(U)
    span, share = math.log(10 / 1e-3), -1 + 3 * U[:, -1]
    log_rate = math.log(1e-3) + span * U[:, 0]
    torch.testing.assert_close(gradients[:, 0], span * share**2, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(gradients[:, -1], 6 * log_rate * share, rtol=1e-4, atol=1e-6)  # one-sided at the faces
    assert not gradients[:, 1:-1].any()
    discrete = exact(lambda p: p["n"], {"n": Integer(0, 5)})
    assert discrete.gradients(points(4, 1)).eq(0).all()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda p: 1 / (1 - p["x"]), ["'cost' at {'x': 1.0, 'y': 2.0}", "ZeroDivisionError"]),
        (lambda p: np.sqrt(0.9 - p["x"]), ["'cost' at {'x': 1.0, 'y': 2.0} was", "nan"]),
        (lambda p: "dear", ["'cost' at", "was 'dear'", "a finite number everywhere"]),
        (lambda p: None, ["was None", "mend its function, or narrow"]),
        (lambda p: p["z"], ["raised KeyError: 'z'"]),
        (lambda p: np.ones(3), ["was array"]),
    ],
)
def test_what_is_no_finite_number_is_said_with_the_parameters(function, said):
    with np.errstate(all="ignore"), pytest.raises(ProblemError) as error:
        exact(function).values(points(3))
    for part in said:
        assert part in str(error.value)


def test_a_point_where_arrays_fail_is_found():
    known = exact(lambda p: np.where(np.abs(p["x"] - 0.123) < 1e-6, np.inf, p["y"]))
    assert known.takes_arrays
    with pytest.raises(ProblemError, match=r"\{'x': 0\.123, 'y': 0\.0\} was .*inf"):
        known.values(torch.tensor([[0.4, 0.4], [0.123, 0.5]]))


def test_units_of_known_rows_come_from_all_over_the_space():
    """The objective is centered, a constraint is measured from its threshold, and the way back to the user is exact."""
    problem = Problem(
        PLANE,
        maximize="gain",
        constraints=["heat <= 40", "c >= 0", "gain >= 1"],
        known={"gain": lambda p: 10 + 5 * p["x"], "heat": lambda p: 60 * p["x"] + p["y"]},
    )
    space = Space.of(problem)
    U = points(4)
    o = collect(problem, space, [(u, {"c": float(u.sum())}) for u in U])
    assert o.mask.sum(-1).tolist() == [0, 0, 4]
    known = exact_outcomes(problem, space)
    gain, heat = known["gain"].spread, known["heat"].spread
    torch.testing.assert_close(o.offset[[0, 1]], torch.tensor([float(-gain.mean()), -40.0]))
    torch.testing.assert_close(o.scale[[0, 1]], torch.stack([gain.std(correction=0), heat.std(correction=0)]))
    scaled = o.from_user(1, known["heat"].values(U))
    torch.testing.assert_close(o.to_user(1, scaled), known["heat"].values(U))
    assert ((scaled >= 0) == (known["heat"].values(U) <= 40)).all()


def test_a_known_outcome_is_not_told():
    problem = Problem(PLANE, minimize="f", constraints=["c >= 0"], known={"f": lambda p: p["x"]})
    assert check_outcomes(problem, {"c": 1}) == {"c": 1.0}
    with pytest.raises(DataError, match=r"'f' is known and not measured: .* leave it out"):
        check_outcomes(problem, {"c": 1, "f": 0.5})
    with pytest.raises(DataError, match="'f' is known"):
        collect(problem, Space.of(problem), [(points(1)[0], {"f": 0.5})])
