"""The gains from joint samples of all rows: what each cell that x* may be in would tell, with nothing approximated.

The cells are minimizers of draws. Joint samples of all rows there are grouped by the cell of their feasible minimum,
and a group is what is believed if x* is in its cell (METHOD 9). Expectation propagation says the same of few samples of
x*, in the words of Gaussians.
"""

import torch

from pesky.acquire.base import Context
from pesky.acquire.grouped.gain import SMALLEST_GROUP, GroupedGain, sample_gain
from pesky.acquire.grouped.joint_samples import firsts_alone, one_per_box
from pesky.acquire.pesc.options import PescOptions
from pesky.model.belief import hyperparameter_samples, studies
from pesky.optimum.sample import Optima

SINGLE = torch.float32
"""Of the samples, at half of the time."""


def sampled_gain(context: Context, options: PescOptions) -> GroupedGain:
    """What a measurement at any x tells about x*."""
    parameters, hyper_samples = len(context.space.parameters), hyperparameter_samples(context.belief)
    options = options.at(context.asked, parameters)
    cells = options.cells_in(parameters, hyper_samples)
    with context.timed("x*"):
        draws = (options.draws or cells) // hyper_samples
        steps = options.steps_in(parameters)
        optima = context.sample_cells(cells, draws, options.candidates, steps)
    return gain_on_cells(context, options, optima)


def gain_on_cells(context: Context, options: PescOptions, optima: Optima) -> GroupedGain:
    """The same, where the cells are known."""
    belief, cells = context.belief, context.space.snap(optima.chosen.x)
    samples = options.samples_per_cell * cells.shape[-2]
    with context.timed("samples"):
        is_first, counts = one_per_box(belief, cells), None
        if cells.dim() - 2 == len(studies(belief)):  # hyperparameter samples have boxes of their own
            cells, is_first, counts = firsts_alone(cells, is_first)
        return sample_gain(
            context,
            cells,
            cells,
            is_first,
            samples,
            SMALLEST_GROUP,
            counts,
            optima=optima,
            resolution=options.resolution(context.asked),
            dtype=SINGLE,
            indifference=options.indifference,
        )


def gain_beside(before: GroupedGain, context: Context, options: PescOptions) -> GroupedGain:
    """The same, of the samples that there are, once more is pending."""
    with context.timed("samples"):
        return before.beside(context, options.resolution(context.asked), SMALLEST_GROUP)
