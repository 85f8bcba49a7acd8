"""`python -m experiments.peaks`: how much of the gain at the best point is a single sample's of x*.

Where the samples are enough, many have a share in it. Where they are too few for the space, the best point is next to
one of them: a guess at where x* is, not the most informative place.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from experiments import figure_2a, figure_2b
from experiments.experiment import Experiment
from experiments.lockstep import Lockstep, Progressed
from experiments.settings import FINE, PAPER
from pesky.acquire import EntropySearchByEP
from pesky.acquire.pesc.gain import InformationGain, gains
from pesky.model.belief import for_hyper_samples
from pesky.strategy.select import select
from pesky.strategy.task_values import TaskValues

RULES = {
    "fine": FINE,
    "fine, 200 samples": replace(FINE, samples=200),
    "fine, no neighbors": replace(FINE, local_reach=None),
    "paper": PAPER,
}
FIGURES = [figure_2a.EXPERIMENT, figure_2b.SMOOTH]


class Peak(NamedTuple):
    """The point of largest gain, on average over realisations."""

    share: float
    """Of its gain, that of the sample that contributes most."""
    distance: float
    """To the nearest sample, in lengthscales: the median."""


def measure(experiment: Experiment, realisations: int, evaluations: int) -> Iterator[tuple[str, Peak]]:
    """The peak of each setting after the same evaluations, which are those of the paper's."""
    seeds = tuple(range(realisations))
    worlds, papers = experiment.build("pesc-paper", seeds, "cpu")
    lockstep = Lockstep(worlds, papers, seeds)
    state = lockstep.begin()
    while state.told.u.shape[1] < evaluations:
        lockstep.step(state)
    for label, rule in RULES.items():
        yield label, peak_of(lockstep, state, rule)


def peak_of(lockstep: Lockstep, state: Progressed, rule: EntropySearchByEP) -> Peak:
    """Where the next question would be, and whose gain is the largest there."""
    context = lockstep.context(state)
    acquisition = rule.acquisition(context)
    assert isinstance(acquisition, InformationGain)
    u = for_hyper_samples(
        context.belief, select(TaskValues(context, rule, acquisition, lockstep.task_options)).u[:, None]
    )
    each = contributions(acquisition, u)
    unit = context.belief.lengthscale.amin(-2)[..., None, :]
    apart = ((acquisition.optima.chosen.x - u) / unit).norm(dim=-1).amin(-1)
    return Peak(float((each.amax(-1) / each.sum(-1)).mean()), float(apart.median()))


def contributions(acquisition: InformationGain, x: Float[Tensor, "*b 1 d"]) -> Float[Tensor, "*b m"]:
    """What each sample, with its weight, adds to the gain of measuring everything at x."""
    weight, likelihoods = acquisition.optima.chosen.weight, acquisition.belief.likelihoods
    moments = acquisition.evaluate(x)
    given = acquisition.predict(moments)
    each = [
        gains(moments, given, only.expand_as(weight), acquisition.noise, likelihoods).sum((-2, -1))
        for only in torch.eye(weight.shape[-1], dtype=weight.dtype).unbind()
    ]
    return weight * torch.stack(each, -1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line for each figure and setting."""
    parser = argparse.ArgumentParser(prog="python -m experiments.peaks", description=__doc__)
    parser.add_argument("--realisations", type=int, default=20, metavar="N")
    parser.add_argument("--evaluations", type=int, default=10, metavar="N", help="before the question (10)")
    given = parser.parse_args(arguments)
    print("figure     setting              largest share  lengthscales to the nearest sample")
    for experiment in FIGURES:
        for label, peak in measure(experiment, given.realisations, given.evaluations):
            print(f"{experiment.figure:10} {label:20} {peak.share:13.2f}  {peak.distance:34.2f}")


if __name__ == "__main__":
    main()
