"""Which of many values what is believed rests on: those that say most of where x* may be (METHOD 10.1).

Each row keeps values of its own, by its own lengthscales: some all over the space, so that the far field is not the
prior's, and the nearest to each place where x* may be. The others are heard by way of these.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pesky.model import through
from pesky.model.belief import Belief, hyperparameter_samples, repeats, union
from pesky.model.hyper import Hyperparameters, is_noise_free
from pesky.numerics.rng import Seed, draw_seed, source_of
from pesky.observations import Observations, evenly
from pesky.optimum.measured import MOST_MEASURED, expected_rank, lowest_ranked
from pesky.optimum.sample import sample_cells
from pesky.space import Space

KEPT = 1000
"""How many are kept of a row with more."""
ALL_OVER = 3
"""One in so many of these is all over the space."""
PLACES, DRAWS, SPREAD, STEPS = 200, 384, 512, 5
"""Where x* may be: so many minimizers of so many draws, looked at first on points all over the space."""
BEST = 50
"""Measured points that are expected to be the best, near each of which values are kept as well."""
NEAREST = 200
"""Of the values near each place, those that are chosen in turn; then the nearest of all."""


class Parted(NamedTuple):
    """The values that are kept, and the others."""

    kept: Observations
    others: Observations


def has_many(o: Observations) -> bool:
    """Whether any row has more values than all of which are kept."""
    return o.mask.shape[-1] > through.EXACT


def active_set(
    o: Observations, h: Hyperparameters, believe: Callable[[Parted], Belief], space: Space, seed: Seed
) -> Parted:
    """The values to keep; `believe` says what is believed by any that are kept.

    Where x* may be is seen by half as many: those all over the space, and some evenly chosen in their order, which are
    where a study has looked.
    """
    lengthscale = h.lengthscale.reshape(-1, *h.lengthscale.shape[-2:]).log().mean(0).exp()
    counts, scaled = o.mask.sum(-1).tolist(), (o.X - 0.5) / lengthscale[:, None]
    Z = [own[:count] for own, count in zip(scaled, counts, strict=True)]
    all_over = [_spread(own, KEPT // ALL_OVER) for own in Z]
    in_order = evenly(o.mask, max(1, KEPT // 2 - KEPT // ALL_OVER))
    rough = believe(_parted(o, [torch.cat(each) for each in zip(all_over, in_order, strict=True)]))
    places = _places(rough, o, space, seed)
    may_repeat = (~o.likelihoods.is_gaussian).tolist()
    # of a row without noise the others are not heard
    is_exact = is_noise_free(h.noise, h.amplitude).reshape(-1, len(Z)).all(0).tolist()
    near = [
        _with_nearest(own, far, (places - 0.5) / scale, through.EXACT if exact else KEPT, repeat)
        for own, far, scale, exact, repeat in zip(Z, all_over, lengthscale, is_exact, may_repeat, strict=True)
    ]
    return _parted(o, near)


def _parted(o: Observations, kept: Sequence[Int[Tensor, " _"]]) -> Parted:
    """With these values of each row that has many, and all of each other row."""
    left = o.mask.clone()
    for own, some in zip(left, kept, strict=True):
        every = own.nonzero()[:, 0]
        own[some if len(every) > through.EXACT else every] = False
    return Parted(o.taken(_numbers(o.mask & ~left)), o.taken(_numbers(left)))


def _numbers(chosen: Bool[Tensor, "J N"]) -> Int[Tensor, "J m"]:
    """The numbers of the chosen values of each row; -1 where others have more."""
    return pad_sequence([each.nonzero()[:, 0] for each in chosen], batch_first=True, padding_value=-1)


def _spread(Z: Float[Tensor, "n d"], count: int) -> Int[Tensor, " m"]:
    """So many points, from the first on each the farthest from those before it; all where there are no more."""
    if len(Z) <= through.EXACT:
        return torch.arange(len(Z), device=Z.device)
    chosen, apart = [torch.zeros_like(Z[:1, 0], dtype=torch.long)], torch.full_like(Z[:, 0], torch.inf)
    while len(chosen) < count:
        apart = torch.minimum(apart, (Z - Z[chosen[-1]]).square().sum(-1))
        chosen.append(apart.argmax(keepdim=True))
    return torch.cat(chosen)


def _places(belief: Belief, o: Observations, space: Space, seed: Seed) -> Float[Tensor, "m d"]:
    """Where x* may be: minimizers of draws, and the measured points that are expected to be the best."""
    points = union(o.X, o.mask)
    good = lowest_ranked(points, expected_rank(belief, points), MOST_MEASURED)
    source, share = source_of(seed), hyperparameter_samples(belief)
    candidates = torch.cat([space.spread(SPREAD, draw_seed(source)).to(good), good])
    cells = sample_cells(belief, max(1, PLACES // share), DRAWS // share, candidates, STEPS, source).chosen.x
    return torch.cat([space.snap(cells).flatten(0, -2), good[:BEST]])


def _with_nearest(
    Z: Float[Tensor, "n d"], far: Int[Tensor, " m"], places: Float[Tensor, "p d"], count: int, may_repeat: bool
) -> Int[Tensor, " k"]:
    """Those that are there, and up to `count` the nearest to each place in turn, once each.

    Repeats of a point are heard by way of the first of them as well as by themselves, unless nothing is.
    """
    if len(Z) <= through.EXACT:
        return far
    apart = torch.cdist(Z, places, compute_mode="donot_use_mm_for_euclid_dist")
    most = min(NEAREST, len(Z))
    near = apart.topk(most, 0, largest=False).indices
    turn = torch.arange(most, device=Z.device, dtype=Z.dtype)[:, None].expand_as(near).flatten()
    closest = apart.amin(-1)
    order = torch.full_like(closest, most).scatter_reduce(0, near.flatten(), turn, "amin")
    order = order + closest / (1 + closest)
    if not may_repeat:
        order[repeats(Z)] = torch.inf
    order[far] = -1.0
    chosen = order.argsort(stable=True)[:count]
    return chosen[order[chosen] < torch.inf]
