"""Pesky itself, by any of its rules; the last of its evaluations confirm the answer, as those of a run do."""

import pesky
from benchmarks.peers.base import Params, Values
from pesky.problem import Problem
from pesky.run.budget import Budget
from pesky.run.confirming import limit_before
from pesky.store import Evaluation


class PeskyPeer:
    """A study that is asked and told."""

    def __init__(self, problem: Problem, seed: int, evaluations: int, rule: str, confirm: int | None = None) -> None:
        self.study = pesky.Study(problem, seed=seed, rule=rule)
        before = limit_before(Budget(evaluations=evaluations, confirm=confirm), {}, problem).evaluations
        assert before is not None
        self.before = before
        self.asked: Evaluation | None = None

    def ask(self) -> Params:
        self.asked = self.study.ask(confirm=len(self.study.evaluations) >= self.before)
        return dict(self.asked.params)

    def tell(self, params: Params, values: Values) -> None:
        mine = {name: values[name] for name in self.study.problem.outcomes}
        if self.asked is None:
            self.study.add(params, mine)
        else:
            self.study.tell(self.asked, mine)
            self.asked = None

    def answer(self) -> Params | None:
        return dict(self.study.recommend().params)
