"""The examples run and print an answer."""

import pytest

from examples import network, toy


@pytest.mark.parametrize("options", [[], ["--decoupled"]])
def test_the_toy_example_prints_its_recommendation_and_draws_the_square(options, tmp_path, capsys):
    picture = tmp_path / "toy.png"
    toy.main(["--evaluations", "10", "--picture", str(picture), *options])
    printed = capsys.readouterr().out
    for text in ("x1", "expected f", "P(c1 >= 0)", "P(c2 >= 0)", "distance to the known optimum"):
        assert text in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_network_example_spends_its_budget_on_both_tasks(capsys):
    network.main(hours=3.2)
    printed = capsys.readouterr().out
    assert "P(latency_ms <= 2)" in printed
    assert "train 3 times" in printed
