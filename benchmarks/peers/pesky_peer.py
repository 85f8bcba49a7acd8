"""Pesky itself, by any of its rules; the last of its evaluations confirm the answer, as those of a run do."""

from dataclasses import replace

import pesky
from benchmarks.peers.base import Params, Question, Values
from benchmarks.peers.shares import shares_of
from pesky.problem import Problem
from pesky.run.budget import Budget
from pesky.run.confirming import limit_before
from pesky.store import Evaluation


class PeskyPeer:
    """A study that is asked and told; if the noise is not declared, it has to find that out, as others have."""

    def __init__(
        self,
        problem: Problem,
        seed: int,
        evaluations: int,
        rule: str,
        confirm: int | None = None,
        *,
        is_declared: bool = True,
    ) -> None:
        problem = problem if is_declared else replace(problem, noise=None)
        self.study = pesky.Study(problem, seed=seed, rule=rule)
        self.shares = shares_of(problem)
        joint = sum(1.0 if task.cost == "measured" else task.cost for task in problem.tasks.values())
        before = limit_before(Budget(cost=evaluations * joint, confirm=confirm), {}, problem).cost
        assert before is not None
        self.before, self.spent = before / joint, 0.0
        self.asked: Evaluation | None = None

    def ask(self) -> Question:
        self.asked = self.study.ask(confirm=self.spent >= self.before - 1e-9)
        return Question(dict(self.asked.params), self.asked.task)

    def tell(self, params: Params, values: Values) -> None:
        mine = {name: values[name] for name in self.study.problem.outcomes if name in values}
        if self.asked is None:
            self.study.add(params, mine)
            self.spent += 1.0
        else:
            self.study.tell(self.asked, mine)
            self.spent += self.shares[self.asked.task]
            self.asked = None

    def answer(self) -> Params | None:
        return dict(self.study.recommend().params)
