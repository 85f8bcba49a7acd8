"""Optuna's samplers, at their defaults: a constraint holds there when it is zero or less."""

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from benchmarks.peers.base import Params, Question, Values, slack
from pesky.problem import Choice, Integer, Parameter, Problem, Real


def distribution(parameter: Parameter) -> BaseDistribution:
    """The same in Optuna's words."""
    match parameter:
        case Real(low, high, log=log):
            return FloatDistribution(low, high, log=log)
        case Integer(low, high, log=log, step=step):
            return IntDistribution(low, high, log=log, step=step)
        case Choice(options):
            return CategoricalDistribution(options)


class OptunaPeer:
    """A study of Optuna's that is asked and told."""

    def __init__(self, problem: Problem, sampler: optuna.samplers.BaseSampler) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.problem = problem
        self.study = optuna.create_study(sampler=sampler)
        self.space = {name: distribution(parameter) for name, parameter in problem.parameters.items()}
        self.asked: optuna.Trial | None = None

    def ask(self) -> Question:
        self.asked = self.study.ask(self.space)
        return Question(self.asked.params)

    def tell(self, params: Params, values: Values) -> None:
        """What is known of a point that was not asked is added as a trial."""
        objective = self.problem.sign * values[self.problem.objective]
        slacks = {str(each): slack(each, values[each.outcome]) for each in self.problem.constraints}
        if self.asked is None:
            known = optuna.create_trial(value=objective, params=params, distributions=self.space, constraints=slacks)
            self.study.add_trial(known)
            return
        for name, value in slacks.items():
            self.asked.set_constraint(name, value)
        self.study.tell(self.asked, objective)
        self.asked = None

    def answer(self) -> Params | None:
        """The best trial that held every constraint."""
        try:
            return self.study.best_params
        except ValueError:  # none did
            return None
