"""Ax's client at its defaults; its initial trials are the points that everyone starts from."""

import importlib
import logging
import warnings
from typing import Any

from benchmarks.peers.base import Measured, Params, Question, Values, named_outcomes
from pesky.errors import PeskyError, ProblemError
from pesky.problem import Choice, Integer, Parameter, Problem, Real


class AxPeer:
    """A client that is asked and told."""

    def __init__(self, problem: Problem, seed: int, evaluations: int) -> None:
        part_of_ax("client")
        if problem.yes_no or problem.parameter_constraints:
            what = "a yes or no among its outcomes" if problem.yes_no else "constraints on parameters"
            raise ProblemError(f"ax is run with numbers alone, and this problem has {what}.")
        self.problem, self.seed = problem, seed
        self.first: list[Measured] = []
        self.client: Any = None
        """None until the first question: what was told before it are the initial trials."""
        self.trial: int | None = None

    def ask(self) -> Question:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (self.trial, params), *_ = self._started().get_next_trials(max_trials=1).items()
        return Question(as_given(self.problem, params))

    def tell(self, params: Params, values: Values) -> None:
        if self.client is None:
            self.first.append(Measured(dict(params), dict(values)))
        elif self.trial is not None:
            self.client.complete_trial(self.trial, raw_data=self._data(values))
            self.trial = None

    def answer(self) -> Params | None:
        """The best trial by the client's model; None where it knows of none that holds the constraints."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                params, *_ = self._started().get_best_parameterization()
            except Exception:  # Ax has several for it, an assertion among them
                return None
        return as_given(self.problem, params)

    def _started(self) -> Any:
        if self.client is None:
            self.client = start(self.problem, self.seed, len(self.first))
            for point in self.first:
                trial = self.client.attach_trial(point.params)
                self.client.complete_trial(trial, raw_data=self._data(point.values))
        return self.client

    def _data(self, values: Values) -> dict[str, Any]:
        """Each value with its standard error, where that is declared."""
        noise = {name: self.problem.noise[name] for name in named_outcomes(self.problem)}
        return {name: values[name] if error is None else (values[name], error) for name, error in noise.items()}


def part_of_ax(name: str) -> Any:
    """A module of Ax's, imported now, which takes seconds; or an error that says how to install it."""
    try:
        return importlib.import_module(f"ax.api.{name}")
    except ImportError as error:
        raise PeskyError(
            "Ax is not installed, which the peer 'ax' is: pip install -c constraints.txt '.[peers]'."
        ) from error


def start(problem: Problem, seed: int, initial: int) -> Any:
    """A client for the problem that decides by itself after so many trials of others."""
    client = part_of_ax("client").Client(random_seed=seed)
    for name in ("ax", "ax.api.client"):  # which has a level of its own
        logging.getLogger(name).setLevel(logging.ERROR)
    client.configure_experiment([in_ax(name, each) for name, each in problem.parameters.items()])
    constraints = [f"{each.outcome} {each.sense} {float(each.threshold)!r}" for each in problem.constraints]
    objective = problem.objective if problem.sign < 0 else f"-{problem.objective}"
    client.configure_optimization(objective, outcome_constraints=constraints)
    client.configure_generation_strategy(
        initialization_budget=initial, initialization_random_seed=seed, initialize_with_center=False
    )
    return client


def in_ax(name: str, parameter: Parameter) -> Any:
    """The parameter in Ax's words."""
    configs = part_of_ax("configs")
    match parameter:
        case Real(low, high, log=log):
            return configs.RangeParameterConfig(name, (low, high), "float", scaling="log" if log else "linear")
        case Integer(low, high, log=log, step=step):
            step_size = None if step == 1 else float(step)
            return configs.RangeParameterConfig(name, (low, high), "int", step_size, scaling="log" if log else "linear")
        case Choice(options):
            kinds = {bool: "bool", int: "int", float: "float", str: "str"}
            return configs.ChoiceParameterConfig(name, list(options), kinds[type(options[0])], is_ordered=False)


def as_given(problem: Problem, params: Any) -> Params:
    """Ax's parameters as ours: in the same order, real ones within their bounds in spite of rounding."""
    own: Params = {}
    for name, parameter in problem.parameters.items():
        value = params[name]
        if isinstance(parameter, Real):
            value = min(max(float(value), parameter.low), parameter.high)
        own[name] = int(value) if isinstance(parameter, Integer) else value
    return own
