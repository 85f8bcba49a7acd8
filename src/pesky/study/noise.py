"""How much measurements scatter: as was declared, or else as their values say."""

from pesky.model.belief import Belief, over_hyper_samples
from pesky.model.hyper import is_noise_free
from pesky.observations import Observations
from pesky.problem import Problem


def noiseless(problem: Problem, belief: Belief) -> set[str]:
    """The outcomes that are measured without noise: as was declared, or as their values say by what is believed."""
    is_found = over_hyper_samples(belief, is_noise_free(belief.noise, belief.amplitude)).all(-2).tolist()
    found = {name for name, none in zip(problem.rows, is_found, strict=True) if none}
    return (found & inferred(problem)) | {name for name, noise in problem.noise.items() if noise == 0}


def inferred(problem: Problem) -> set[str]:
    """The numbers of whose noise nobody said anything."""
    return {name for name in problem.rows if problem.noise.get(name, 0.0) is None} - problem.yes_no


def noise_of(problem: Problem, belief: Belief, observations: Observations) -> dict[str, float]:
    """The deviation of a measurement of each outcome that is a number, in its own units."""
    none = noiseless(problem, belief)
    found = over_hyper_samples(belief, observations.deviations_to_user(belief.noise)).mean(-2).tolist()
    noise = {name: problem.noise[name] for name in problem.rows if name in problem.noise and name not in problem.yes_no}
    as_found = dict(zip(problem.rows, found, strict=True))
    given = {name: as_found[name] if declared is None else declared for name, declared in noise.items()}
    return {name: 0.0 if name in none else deviation for name, deviation in given.items()}


def as_reasons(problem: Problem, belief: Belief, observations: Observations) -> dict[str, object]:
    """What is kept with a question of the noise that nobody declared; nothing where all was."""
    found, names = noise_of(problem, belief, observations), inferred(problem)
    own = {name: float(f"{noise:.3g}") for name, noise in found.items() if name in names}
    return {"noise": own} if own else {}
