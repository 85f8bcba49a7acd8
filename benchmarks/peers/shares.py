"""What measuring a part of the outcomes is worth, where they can be measured separately."""

from pesky.problem import Problem


def shares_of(problem: Problem) -> dict[str | None, float]:
    """The price of each task as a share of that of all tasks together, which is what `None` stands for: 1."""
    prices = {name: 1.0 if task.cost == "measured" else task.cost for name, task in problem.tasks.items()}
    joint = sum(prices.values())
    return {None: 1.0, **{name: price / joint for name, price in prices.items()}}
