"""How much of the gain at the best point is a single sample's of x*."""

import torch

from experiments import figure_2a, peaks
from experiments.lockstep import Lockstep
from pesky.acquire import EntropySearchByEP, InformationGain

QUICK = EntropySearchByEP(samples=6, draws=30, local_reach=0.2, polish_steps=3, candidates=64)


def test_the_contributions_of_all_samples_are_the_gain():
    worlds, rule = figure_2a.EXPERIMENT.build("pesc", (0, 1), "cpu")
    lockstep = Lockstep(worlds, rule, (0, 1))
    acquisition = QUICK.acquisition(lockstep.context(lockstep.begin()))
    assert isinstance(acquisition, InformationGain)
    x = torch.rand(2, 1, 2, generator=torch.Generator().manual_seed(0))
    gain = acquisition.forward(x).sum((-2, -1))
    each = peaks.contributions(acquisition, x)
    assert each.shape == acquisition.optima.chosen.weight.shape
    torch.testing.assert_close(each.sum(-1), gain)


def test_prints_a_line_for_each_figure_and_setting(monkeypatch, capsys):
    monkeypatch.setattr(peaks, "RULES", {"one": QUICK, "other": QUICK})
    peaks.main(["--realisations", "2", "--evaluations", "3"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("figure")
    assert [line.split()[:2] for line in lines] == [[f, s] for f in ("2a", "2b_smooth") for s in ("one", "other")]
    shares = [float(line.split()[2]) for line in lines]
    assert all(1 / 6 <= share <= 1 for share in shares)
    assert shares[0] == shares[1]
