"""Ranks, who is first, who is stuck; and the page that shows them."""

from collections import Counter

import numpy as np
import pytest

from benchmarks.peers.kept import Kept, read_kept, write_kept
from benchmarks.peers.page import DOCS, gather, main, rewrite
from benchmarks.peers.standing import common_field, compare, standings, stuck_runs
from benchmarks.peers.tables import lines_of_defeats

RANKED = ("pesc", "optuna-gp", "optuna-tpe")


def run(problem, peer, seed, gap, scale=1.0):
    return Kept(problem, peer, seed, 40, 3, scale, 0.5, {"answer": {20: 2 * gap, 40: gap}})


def test_ranks_are_by_the_mean_of_log10_gaps_and_ties_share_theirs():
    gaps = {"a": [1e-3, 1e-1], "b": [1e-1, 1e-1], "c": [1e-2, 1e-2], "d": [1.0, 1.0]}
    places = compare({peer: np.array(each) for peer, each in gaps.items()})
    assert places.ranks.tolist() == [1.5, 3.0, 1.5, 4.0]
    assert [peer for peer in gaps if places.is_last(peer)] == ["d"]


def test_within_one_standard_error_of_the_first_is_first():
    noise = np.random.default_rng(0).normal(size=(3, 40))
    first, near, far = 10.0 ** (noise + np.array([[-1.0], [-0.9], [0.5]]))
    places = compare({"first": first, "near": near, "far": far})
    assert places.is_first("first")
    assert not places.is_first("far")
    value, error = places.behind["far"]
    assert error == pytest.approx((noise[2] - noise[0]).std() / 40**0.5, rel=0.1)  # of the difference, in pairs
    assert value == pytest.approx((np.log10(far) - np.log10(first)).mean())


def test_equal_differences_have_no_error():
    first = 10.0 ** np.random.default_rng(0).normal(size=20)
    assert not compare({"first": first, "always worse": 1.1 * first}).is_first("always worse")


def test_standings_are_means_over_problems_among_those_who_ran_them_all():
    kept = [run("p", "a", s, 0.1) for s in range(3)] + [run("p", "b", s, 0.2) for s in range(3)]
    kept += [run("q", "a", 0, 0.5), run("q", "b", 0, 0.1), run("q", "c", 0, 0.2)]
    found = standings(kept, "answer", 40)
    assert {peer: each.rank for peer, each in found.items()} == {"a": 1.5, "b": 1.5}  # c would make a third on q alone
    assert (found["a"].firsts, found["a"].lasts, found["a"].problems, found["a"].error) == (1, 1, 2, 0.0)
    assert {run.peer for run in common_field(kept, "answer")} == {"a", "b"}
    assert standings([*kept, run("alone", "a", 0, 1.0)], "answer", 40) == {}
    assert standings([], "answer", 40) == {}


def test_stuck_is_far_from_what_another_reaches_and_of_the_scale():
    gaps = {"good": [1e-4, 1e-4, 0.5], "bad": [0.5, 0.009, 0.5]}
    kept = [run("p", peer, seed, gap) for peer, each in gaps.items() for seed, gap in enumerate(each)]
    assert stuck_runs(kept, "answer") == {"good": 1, "bad": 2}
    hard = [run("p", peer, 0, gap) for peer, gap in (("a", 0.5), ("b", 0.6))]  # none gets there
    assert stuck_runs(hard, "answer") == {"a": 0, "b": 0}


def test_the_page_is_made_again_from_what_was_kept(tmp_path):
    kept = [run("toy", peer, seed, gap) for peer, gap in (("pesc", 0.01), ("scbo", 0.2)) for seed in range(2)]
    (tmp_path / "peers").mkdir()
    write_kept(tmp_path / "peers" / "runs.json", kept)
    assert read_kept(tmp_path / "peers" / "runs.json") == kept
    page = tmp_path / "peers.md"
    page.write_text(
        "before\n<!-- table:standings-answer -->\nold\n<!-- end -->\n<!-- table:problems-answer-40 -->\n<!-- end -->"
    )
    assert main(["--docs", str(tmp_path)]) == 0
    text = page.read_text()
    assert "old" not in text
    assert "| `pesc` | 1.00 ± 0.00 | 1.00 ± 0.00 | 1 | 1 / 1 | 0 / 0 | 0 of 2 | 0.50 |" in text
    assert "| `toy` | 2 | **0.01** | 0.2 |" in text
    assert (tmp_path / "peers" / "ranks.png").stat().st_size > 10_000
    assert rewrite(text, kept) == text


def test_the_pages_tables_are_those_of_its_runs():
    text = (DOCS / "peers.md").read_text()
    assert rewrite(text, gather(read_kept(DOCS / "peers" / "runs.json"), [])) == text


def test_the_page_says_how_many_runs_there_are_of_each_peer():
    """The sentence in `docs/peers.md` is by hand: change it where this fails."""
    kept = common_field(read_kept(DOCS / "peers" / "runs.json"), "answer")
    runs = {peer: Counter(Counter(run.problem for run in kept if run.peer == peer).values()) for peer in RANKED}
    assert runs == {"pesc": {3: 38}, "optuna-gp": {3: 37, 2: 1}, "optuna-tpe": {2: 37, 3: 1}}


def test_where_a_peer_is_not_first_and_where_it_is_stuck_is_a_table():
    gaps = {"a": {"p": 0.1, "q": 0.9}, "b": {"p": 0.2, "q": 0.01}}
    kept = [
        run(problem, peer, seed, gap) for peer, own in gaps.items() for problem, gap in own.items() for seed in (0, 1)
    ]
    assert lines_of_defeats(kept, "answer", "a") == [
        ["not first at 20", "1", "`q` (`b`)"],
        ["not first at 40", "1", "`q` (`b`)"],
        ["stuck at 40", "1", "`q` (2 of 2 runs)"],
    ]


def test_runs_that_began_with_other_points_are_not_kept():
    odd = Kept("toy", "scbo", 0, 40, 99, 1.0, 0.5, {"answer": {40: 0.1}})
    assert gather([odd, run("toy", "pesc", 0, 0.1)], []) == [run("toy", "pesc", 0, 0.1)]


def test_a_table_that_does_not_exist_is_said():
    with pytest.raises(ValueError, match="expected standings-KIND"):
        rewrite("<!-- table:nothing -->\n<!-- end -->", [])
