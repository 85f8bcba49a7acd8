"""Who is first, and by how much: ranks over problems, with bootstrap errors over runs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

from benchmarks.gaps import FLOOR, error_of
from benchmarks.peers.kept import Kept, of_problems

RESAMPLES = 1000
STUCK_FACTOR, STUCK_SHARE = 10.0, 0.01


@dataclass(frozen=True)
class Places:
    """How all peers of one problem compare by their mean log10 gap.

    ranks:      of each peer, 1 is the best, those that are equal share theirs
    resampled:  the same of runs that were drawn with replacement, with the same seeds for all who ran as often
    behind:     by how much the mean log10 gap exceeds that of the first, and its standard error
    """

    peers: list[str]
    ranks: Float[np.ndarray, " peers"]
    resampled: Float[np.ndarray, "resamples peers"]
    behind: dict[str, tuple[float, float]]

    def is_first(self, peer: str) -> bool:
        """Whether it is first, or within one standard error of the first."""
        value, error = self.behind[peer]
        return value <= error

    def is_last(self, peer: str) -> bool:
        """Whether all others are better."""
        return len(self.peers) > 1 and self.ranks[self.peers.index(peer)] == len(self.peers)


def gaps_of(runs: Sequence[Kept], kind: str, n: int) -> dict[str, Float[np.ndarray, " runs"]]:
    """The gaps of each peer in the runs of one problem, by seed."""
    found: dict[str, list[float]] = {}
    for run in sorted(runs, key=lambda run: run.seed):
        if n in run.gaps.get(kind, {}):
            found.setdefault(run.peer, []).append(run.gaps[kind][n])
    return {peer: np.array(gaps) for peer, gaps in found.items()}


def compare(gaps: dict[str, Float[np.ndarray, " runs"]], seed: int = 0) -> Places:
    """The places of peers, given the gaps of each; `seed` is that of the bootstrap."""
    logs = {peer: np.log10(np.maximum(each, FLOOR)) for peer, each in gaps.items()}
    source = np.random.default_rng(seed)
    drawn = {n: source.integers(n, size=(RESAMPLES, n)) for n in sorted({len(each) for each in logs.values()})}
    means = np.array([each.mean() for each in logs.values()])
    resampled = np.stack([each[drawn[len(each)]].mean(1) for each in logs.values()], 1)
    first = int(means.argmin())
    errors = error_of(resampled - resampled[:, first : first + 1])
    behind = {peer: (float(means[i] - means[first]), float(errors[i])) for i, peer in enumerate(logs)}
    return Places(list(logs), rankdata(means), rankdata(resampled, axis=1), behind)


@dataclass(frozen=True)
class Standing:
    """How one peer stands over all problems, at one number of evaluations.

    rank, error:  its mean rank, and the standard error that other seeds would show
    firsts:       problems on which it is first or within one standard error of it
    lasts:        problems on which all others are better
    """

    rank: float
    error: float
    firsts: int
    lasts: int
    problems: int


def common_field(kept: Sequence[Kept], kind: str) -> list[Kept]:
    """The runs of the peers that ran every problem: a rank among three does not compare with one among six."""
    ran = [{run.peer for run in runs if kind in run.gaps} for runs in of_problems(kept).values()]
    everywhere = set.intersection(*ran) if ran else set()
    return [run for run in kept if run.peer in everywhere]


def places_of(kept: Sequence[Kept], kind: str, n: int) -> dict[str, Places]:
    """The places on each problem of the peers that ran every problem."""
    by_problem = of_problems(common_field(kept, kind))
    # Problems draw their seeds independently of one another.
    return {
        name: compare(gaps, i)
        for i, name in enumerate(sorted(by_problem))
        if (gaps := gaps_of(by_problem[name], kind, n))
    }


def standings(kept: Sequence[Kept], kind: str, n: int) -> dict[str, Standing]:
    """The standing of each peer that ran every problem, the best rank first; nothing if that is one alone."""
    places, found = list(places_of(kept, kind, n).values()), {}
    for peer in places[0].peers if places and len(places[0].peers) > 1 else []:
        at = [each.peers.index(peer) for each in places]
        drawn = np.mean([each.resampled[:, i] for each, i in zip(places, at, strict=True)], axis=0)
        rank = float(np.mean([each.ranks[i] for each, i in zip(places, at, strict=True)]))
        firsts, lasts = (
            sum(map(lambda each, p=peer: test(each, p), places)) for test in (Places.is_first, Places.is_last)
        )
        found[peer] = Standing(rank, float(error_of(drawn[:, None])[0]), firsts, lasts, len(places))
    return dict(sorted(found.items(), key=lambda item: item[1].rank))


def stuck_runs(kept: Sequence[Kept], kind: str) -> dict[str, int]:
    """How many runs of each peer ended far from what another reaches as a rule, see `stuck`."""
    return dict.fromkeys((run.peer for run in kept), 0) | Counter(run.peer for run in stuck(kept, kind))


def stuck(kept: Sequence[Kept], kind: str) -> list[Kept]:
    """The runs whose last gap is over 10 times the best peer's median there, and over 1 % of the objective's scale."""
    found = []
    for runs in of_problems(kept).values():
        n = max(run.evaluations for run in runs)
        best = min((float(np.median(gaps)) for gaps in gaps_of(runs, kind, n).values()), default=0.0)
        for run in runs:
            gap = run.gaps.get(kind, {}).get(n, 0.0)
            if gap > STUCK_FACTOR * best and gap > STUCK_SHARE * run.scale:
                found.append(run)
    return found
