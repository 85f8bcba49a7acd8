"""How much measurements scatter: as was declared, or else as their values say."""

from pesky.model.belief import Belief, over_hyper_samples
from pesky.observations import Observations
from pesky.problem import Problem

ENOUGH = 3
"""Values for each parameter, and so many more, from which on noise is said in numbers; or so many repeated ones.

Of five values in five dimensions, what seems to scatter is the function: such figures were up to 19 times too large.
"""


def noise_free(problem: Problem, observations: Observations) -> frozenset[str]:
    """The rows that are measured without noise: known, declared to have none, or of values that speak for none."""
    noise = observations.noise.reshape(-1, len(problem.rows))
    none = {name for name, is_none in zip(problem.rows, (noise == 0).all(0).tolist(), strict=True) if is_none}
    return frozenset(none | problem.known.keys() | problem.declared_exact) & {*problem.rows}


def undeclared(problem: Problem) -> set[str]:
    """The numbers of whose noise nobody said anything."""
    return {name for name in problem.rows if problem.noise.get(name, 0.0) is None} - problem.yes_no


def noise_of(problem: Problem, belief: Belief, observations: Observations) -> dict[str, float]:
    """The deviation of a measurement of each outcome that is a number, in its own units."""
    none = noise_free(problem, observations)
    found = over_hyper_samples(belief, observations.deviations_to_user(belief.noise)).mean(-2).tolist()
    noise = {name: problem.noise[name] for name in problem.rows if name in problem.noise and name not in problem.yes_no}
    as_found = dict(zip(problem.rows, found, strict=True))
    given = {name: as_found[name] if declared is None else declared for name, declared in noise.items()}
    return {name: 0.0 if name in none else deviation for name, deviation in given.items()}


def as_reasons(problem: Problem, belief: Belief, observations: Observations) -> dict[str, object]:
    """What is kept with a question of the noise that nobody declared; nothing where all was.

    None of an outcome of which too little was measured to tell.
    """
    found, names = noise_of(problem, belief, observations), undeclared(problem)
    known = can_be_told(problem, observations)
    own = {name: float(f"{noise:.3g}") if name in known else None for name, noise in found.items() if name in names}
    return {"noise": own} if own else {}


def can_be_told(problem: Problem, observations: Observations) -> set[str]:
    """The outcomes with enough values to tell noise from the function: for the parameters, or at the same points."""
    told = {}
    for row, (X, mask) in enumerate(zip(observations.X, observations.mask, strict=True)):
        values, points = int(mask.sum()), len(X[mask].unique(dim=0))
        depends = len(problem.depends_on(problem.rows[row]))
        told[problem.rows[row]] = values >= ENOUGH * (depends + 1) or values - points >= ENOUGH
    return {name for name, is_enough in told.items() if is_enough}
