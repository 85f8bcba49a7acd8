"""A user's function may do anything: the report tells it in numbers and words."""

import json
import math
import pickle
import runpy
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from pesky.run import call
from pesky.run.call import BARE, MISTAKE, TRACEBACK, Report, check, measure
from pesky.store import evaluation


def returned(value: Any) -> Report:
    return measure(lambda params: value, {})


def raising(error: BaseException) -> Report:
    def fail(params: Any) -> None:
        raise error

    return measure(fail, {})


class Vague:
    def __repr__(self) -> str:
        raise RuntimeError("not today")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not today")


def test_the_function_gets_a_dict_of_its_own() -> None:
    given = MappingProxyType({"x": 1.5})

    def spoil(params: dict[str, float]) -> dict[str, float]:
        return {"f": params.pop("x")}

    assert measure(spoil, given).outcomes == {"f": 1.5}
    assert given == {"x": 1.5}


def test_seconds_are_those_of_the_call() -> None:
    assert 0.05 <= measure(lambda params: time.sleep(0.05), {}).seconds < 5


@pytest.mark.parametrize(
    "number",
    [
        2,
        2.0,
        np.float32(2),
        np.int64(2),
        np.array(2.0),
        np.array([[2.0]]),
        torch.tensor(2.0, requires_grad=True),
        torch.tensor([2]),
        pd.Series([2.0]),
        Decimal(2),
        Fraction(4, 2),
    ],
)
def test_numbers_of_every_library_are_floats(number: Any) -> None:
    assert returned({"f": number})[:2] == ({"f": 2.0}, None)
    assert returned(number).outcomes == {BARE: 2.0}
    assert all(type(value) is float for value in (returned({"f": number}).outcomes or {}).values())


@pytest.mark.parametrize("answer", [True, np.bool_(True), torch.tensor(True), np.array([True])])
def test_answers_stay_answers(answer: Any) -> None:
    (value,) = (returned({"f": answer}).outcomes or {}).values()
    assert value is True


@pytest.mark.parametrize("value", ["2.0", None, 1j, [2.0], np.array([1.0, 2.0]), torch.ones(2), Vague(), 10**400, {}])
def test_what_is_no_number_is_told_and_the_rest_is_kept(value: Any) -> None:
    report = returned({"f": 1, "g": value})
    assert report.outcomes == {"f": 1.0}
    error = str(check(report, ["f", "g"]).error)
    assert error.startswith("returned 'g' = ")
    assert "expected a number" in error
    assert len(error) < 300
    assert "\n" not in error


def test_what_is_neither_a_mapping_nor_a_number_is_told() -> None:
    assert returned(None)[:2] == (
        None,
        "returned None: expected a mapping from outcomes to numbers, or one number: is a `return` missing?",
    )
    assert "returned (1.0, 2.0): expected a mapping" in str(returned((1.0, 2.0)).error)
    assert check(returned({3: 1.0}), ["f"]).error == "returned no 'f': it gave '3', expected 'f'"


def test_an_exception_is_told_with_its_place() -> None:
    def inner(x: float) -> float:
        raise ValueError(f"x was {x}")

    def outer(params: dict[str, float]) -> float:
        return inner(params["x"])

    lines = str(measure(outer, {"x": 3}).error).splitlines()
    line = inner.__code__.co_firstlineno + 1
    assert lines[0] == "ValueError: x was 3"
    assert lines[1].startswith("  test_call.py:")
    assert lines[1].endswith(': return inner(params["x"])')
    assert lines[2] == f'  test_call.py:{line} in inner: raise ValueError(f"x was {{x}}")'
    assert len(lines) == 3


def test_the_place_is_in_the_code_of_the_user_not_of_a_library() -> None:
    error = str(measure(lambda params: np.linalg.inv(np.ones(3)), {}).error)
    assert error.startswith("LinAlgError: ")
    assert "test_call.py" in error.splitlines()[-1]
    assert "site-packages" not in error
    assert "linalg.py" not in error


def test_errors_stay_short() -> None:
    def deep(params: Any) -> None:
        deep(params)

    assert len(str(measure(deep, {}).error)) < 700
    assert len(str(raising(ValueError("long " * 10_000)).error)) < 700


def test_the_cause_is_told() -> None:
    def fail(params: Any) -> None:
        try:
            _ = 1 / 0
        except ZeroDivisionError as error:
            raise RuntimeError("the solver failed") from error

    first = str(measure(fail, {}).error).splitlines()[0]
    assert first == "RuntimeError: the solver failed (from ZeroDivisionError: division by zero)"


def test_no_exception_escapes_but_ctrl_c() -> None:
    assert str(raising(SystemExit(3)).error).startswith("SystemExit: 3")
    assert str(raising(Mute()).error).startswith("Mute: (its message cannot be shown)")
    assert str(raising(MemoryError()).error).startswith("MemoryError\n")
    with pytest.raises(KeyboardInterrupt):
        raising(KeyboardInterrupt())


def test_a_bare_number_is_the_only_outcome_there_is() -> None:
    assert check(returned(2), ["f"]) == ({"f": 2.0}, None, {})
    values, reason, attributes = check(returned(2), ["f", "g"])
    assert (values, attributes) == ({}, {MISTAKE: True})
    assert reason == "returned the number 2.0: expected 'f', 'g', as in {'f': ..., 'g': ...}"


def test_all_outcomes_are_valid() -> None:
    assert check(returned({"f": 2, "ok": True}), ["f", "ok"], {"ok"}) == ({"f": 2.0, "ok": 1.0}, None, {})
    assert check(returned({"f": 2, "ok": 0}), ["f", "ok"], {"ok"}) == ({"f": 2.0, "ok": 0.0}, None, {})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_a_failure(value: float) -> None:
    assert check(returned({"f": 1, "g": value}), ["f", "g"]) == (
        {"f": 1.0},
        f"returned 'g' = {value!r}: expected a finite number",
        {},
    )


@pytest.mark.parametrize("value", [0.5, math.nan, 2])
def test_a_yes_or_no_is_nothing_else(value: float) -> None:
    values, reason, _ = check(returned({"f": 1, "ok": value}), ["f", "ok"], {"ok"})
    assert values == {"f": 1.0}
    assert "it is a yes or no, so expected True or False" in str(reason)


def test_a_missing_outcome_is_a_mistake_of_the_program() -> None:
    values, reason, attributes = check(returned({"f": 1, "latency": 3}), ["f", "latency_ms"])
    assert values == {"f": 1.0}
    assert reason == "returned no 'latency_ms': it gave 'f', 'latency', expected 'f', 'latency_ms'"
    assert attributes == {"latency": 3, MISTAKE: True}
    assert check(returned({}), ["f"]) == ({}, "returned no 'f': it gave nothing, expected 'f'", {MISTAKE: True})
    assert check(returned(None), ["f"]).attributes == {MISTAKE: True}


def test_what_else_is_returned_is_an_attribute() -> None:
    more = {"epochs": 12, "note": "ok", "curve": np.array([1.5, 2.5]), "at": {"a": (1, None)}, "odd": object, 7: 1}
    given = check(returned({"f": 1, "pesky:mistake": True, **more}), ["f"])
    assert given.values == {"f": 1.0}
    assert given.error is None
    assert given.attributes == {
        "epochs": 12, "note": "ok", "curve": [1.5, 2.5], "at": {"a": [1, None]}, "odd": "<class 'object'>",
        "returned pesky:mistake": True, "7": 1,
    }  # fmt: skip
    pickle.dumps(returned({"f": 1, **more}))


def test_an_error_is_the_reason() -> None:
    assert check(Report(None, "ValueError: no", 0.1), ["f"]) == ({}, "ValueError: no", {})
    values, reason, attributes = check(returned({"f": 1, "g": None}), ["f", "g"])
    assert values == {"f": 1.0}
    assert reason == "returned 'g' = None: expected a number"
    assert attributes == {}  # the program may say so of a point


def test_the_whole_traceback_is_kept() -> None:
    def deep(n: int) -> float:
        return 1 / n if n == 0 else deep(n - 1)

    kept = check(measure(lambda params: deep(10), {}), ["f"]).attributes
    assert set(kept) == {TRACEBACK}
    assert str(kept[TRACEBACK]).count("return 1 / n") == 11 or "previous line repeated" in str(kept[TRACEBACK]).lower()
    assert str(kept[TRACEBACK]).rstrip().endswith("ZeroDivisionError: division by zero")


def test_a_call_that_does_not_fit_is_a_mistake_and_a_type_error_inside_is_none() -> None:
    def two(x: Any, z: Any) -> float:
        return x + z

    assert MISTAKE in check(measure(two, {"x": 1}), ["f"]).attributes  # pyright: ignore[reportArgumentType]
    assert MISTAKE in check(measure(math.sin, {"x": 1}), ["f"]).attributes  # pyright: ignore[reportArgumentType]
    assert MISTAKE not in check(measure(lambda params: two(params, 1), {"x": 1}), ["f"]).attributes
    assert MISTAKE not in check(measure(lambda params: 1 / 0, {"x": 1}), ["f"]).attributes
    assert evaluation.MISTAKE == MISTAKE


def test_the_file_can_be_run_alone() -> None:
    """A child process loads it without the package."""
    alone = runpy.run_path(str(Path(call.__file__)))
    assert alone["measure"](lambda params: params["x"], {"x": 2})[:2] == ({BARE: 2.0}, None)
    imported = {value.__name__ for value in alone.values() if isinstance(value, type(sys))}
    assert imported <= sys.stdlib_module_names


class Pretends:
    """Something whose parts are endless."""

    def __repr__(self) -> str:
        return "x" * 10**6


BIG = 10**8
HUGE: dict[str, Callable[[], Any]] = {
    "text": lambda: {"f": 1.0, "note": "x" * BIG},
    "bytes": lambda: {"f": 1.0, "note": b"x" * BIG},
    "array": lambda: {"f": 1.0, "note": np.zeros((1000, 1000, 10))},
    "tensor": lambda: {"f": 1.0, "note": torch.zeros(10**7)},
    "texts": lambda: {"f": 1.0, "note": [["y" * 10**5] * 1000] * 1000},
    "integer": lambda: {"f": 1.0, "note": 1 << 10**7, "in": [[1 << 10**5]]},
    "key": lambda: {"f": 1.0, "k" * BIG: 2.0, "in": {"k" * BIG: 3}},
    "object": lambda: {"f": 1.0, "note": Pretends(), "in": [Pretends()] * 1000},
}


@pytest.mark.parametrize("what", HUGE)
def test_what_leaves_the_process_is_short_however_much_was_returned(what: str) -> None:
    value = HUGE[what]()
    report = measure(lambda params: value, {})
    assert len(pickle.dumps(report)) < 2 * 10**6
    checked = check(report, ["f"])
    assert checked[:2] == ({"f": 1.0}, None)
    json.dumps(checked.attributes)


def test_a_hundred_thousand_names_are_refused_in_words() -> None:
    report = measure(lambda params: {str(i): 1.0 for i in range(100_000)}, {})
    assert report.error == "returned 100000 names: expected the outcomes, and no more than 10000 in all"


def test_an_error_of_a_hundred_megabytes_is_told_shortly() -> None:
    def fail(params: Any) -> None:
        raise ValueError("x" * BIG)

    report = measure(fail, {})
    assert str(report.error).startswith("ValueError: xxx")
    assert len(pickle.dumps(report)) < 10**5


def test_an_array_within_bounds_is_kept_as_it_is() -> None:
    returned = {"f": 1.0, "a": np.arange(6.0).reshape(2, 3), "b": np.float32(0.5), "c": np.array(3)}
    assert measure(lambda params: returned, {}).returned == {
        "f": 1.0, "a": [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "b": 0.5, "c": 3,
    }  # fmt: skip


def test_texts_of_a_kind_of_their_own_leave_as_texts() -> None:
    class Own(str):
        def __str__(self) -> str:
            return self

    report = returned({Own("f"): 1.0, Own("note"): {Own("in"): 1}})
    assert [type(key) for key in report.returned or {}] == [str, str]
    assert pickle.loads(pickle.dumps(report)).returned == {"f": 1.0, "note": {"in": 1}}
