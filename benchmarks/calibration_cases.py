"""The problems on which answers are judged: noise-free, noisy, mixed, drawn, and a network that is really trained."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import pi
from pathlib import Path
from typing import Any

import torch

from examples.digits import digits
from pesky import Choice, Integer, Problem, Real
from pesky.problem import Option
from pesky.study_file import StudyFile
from pesky.test_functions import Benchmark, problem_by_name

Values = dict[str, float]


@dataclass(frozen=True)
class Case:
    """A problem with a way to measure it, and what every outcome truly is."""

    problem: Problem
    measure: Callable[[Mapping[str, Option], torch.Generator], Values]
    truth: Callable[[Mapping[str, Option]], Values]


def case_by_name(name: str, seed: int) -> Case:
    """The case of that name; functions that are drawn are drawn with the seed."""
    return CASES[name](seed)


def _of(benchmark: Benchmark) -> Case:
    exact = replace(benchmark, noise=0.0)
    return Case(benchmark.problem, lambda params, chance: benchmark.evaluate(params, chance), exact.evaluate)


def _test_function(name: str, seed: int) -> Case:
    return _of(problem_by_name(name, seed))


def _noisy(name: str, noise: float, seed: int) -> Case:
    """With noise that nobody declares."""
    benchmark = problem_by_name(name, seed)
    return _of(replace(benchmark, noise=noise, problem=replace(benchmark.problem, noise=None)))


def _vessel(seed: int) -> Case:
    """The pressure vessel whose thicknesses are multiples of 1/16 inch, as sheets are sold; noise is not declared."""
    parameters = {"shell": Integer(1, 99), "head": Integer(1, 99), "radius": Real(10, 200), "length": Real(10, 200)}
    constraints = ["hoop >= 0", "dome >= 0", "volume >= 0"]

    def evaluate(params: Mapping[str, Any], _: object = None) -> Values:
        s, h, r, length = params["shell"] / 16, params["head"] / 16, params["radius"], params["length"]
        return {
            "cost": 0.6224 * s * r * length + 1.7781 * h * r**2 + 3.1661 * s**2 * length + 19.84 * s**2 * r,
            "hoop": s - 0.0193 * r,
            "dome": h - 0.00954 * r,
            "volume": (pi * r**2 * length + 4 / 3 * pi * r**3) / 1296000 - 1,
        }

    return Case(Problem(parameters, minimize="cost", constraints=constraints), evaluate, evaluate)


def _kinds(seed: int) -> Case:
    """A bowl for each of three kinds, on a lattice, with noise."""
    parameters = {"kind": Choice(["a", "b", "c"]), "n": Integer(0, 20), "x": Real(0, 1)}
    centers = {"a": (0.3, 5), "b": (0.6, 10), "c": (0.8, 16)}

    def truth(params: Mapping[str, Any]) -> Values:
        x, n = centers[params["kind"]]
        far = (params["x"] - x) ** 2 + ((params["n"] - n) / 20) ** 2
        return {"loss": far + 0.05 * "abc".index(params["kind"]), "rate": params["x"] + params["n"] / 20}

    def measure(params: Mapping[str, Any], chance: torch.Generator) -> Values:
        noise = 0.01 * torch.randn(2, generator=chance, dtype=torch.float64)
        return {name: value + float(e) for (name, value), e in zip(truth(params).items(), noise, strict=True)}

    return Case(Problem(parameters, minimize="loss", constraints=["rate >= 0.8"]), measure, truth)


def _digits(seed: int) -> Case:
    problem = StudyFile.read(Path(digits.__file__).parent / "study.toml", importing=False).problem

    def measure(params: Mapping[str, Any], chance: torch.Generator) -> Values:
        return digits.train(dict(params), seed=int(torch.randint(2**31, (), generator=chance)))

    return Case(problem, measure, lambda params: digits.truth(dict(params)))


CASES: dict[str, Callable[[int], Case]] = {
    **{
        name: partial(_test_function, name)
        for name in (
            "toy", "gardner1", "gardner2", "branin-disk", "hartmann6",
            "pressure-vessel", "welded-beam", "spring", "speed-reducer", "gp2", "gp4",
        )
    },
    "toy with noise": partial(_noisy, "toy", 0.05),
    "gardner1 with noise": partial(_noisy, "gardner1", 0.1),
    "branin-disk with noise": partial(_noisy, "branin-disk", 2.0),
    "vessel of sheets": _vessel,
    "three kinds": _kinds,
    "digits": _digits,
}  # fmt: skip
"""Every case by its name."""
