"""An old Spearmint experiment, a function of Branin's with a constraint, is imported and run."""

import json

from pesky.cli import exit_codes

CONFIG = {
    "language": "PYTHON",
    "main-file": "pesky_old_branin.py",
    "experiment-name": "branin",
    "likelihood": "NOISELESS",
    "max-finished-jobs": 4,
    "variables": {
        "X": {"type": "FLOAT", "size": 1, "min": 0, "max": 15},
        "Y": {"type": "FLOAT", "size": 1, "min": -5, "max": 15},
    },
    "tasks": {"branin": {"type": "OBJECTIVE"}, "disk": {"type": "CONSTRAINT"}},
}

MAIN = """\
import numpy as np

def main(job_id, params):
    x, y = params["X"], params["Y"]
    value = np.square(y - 5.1 / (4 * np.pi**2) * np.square(x) + 5 / np.pi * x - 6)
    value = value + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10
    return {"branin": value, "disk": 50 - np.square(x - 2.5) - np.square(y - 7.5)}
"""


def test_an_old_experiment_runs(pesky, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "pesky_old_branin.py").write_text(MAIN)
    text = pesky("import-spearmint", "config.json", "-o", "old.toml").stdout
    assert text == "old.toml and old_spearmint.py written.\nNext: pesky run old.toml\n"
    assert "subject to disk >= 0" in pesky("check", "old.toml").stdout
    pesky("run", "old.toml", "--quiet")
    rows = json.loads(pesky("show", "old.toml", "--json").stdout)
    assert [row["state"] for row in rows] == ["done"] * 4
    for row in rows:
        x, y = row["params"]["X"], row["params"]["Y"]
        assert row["outcomes"]["disk"] == 50 - (x - 2.5) ** 2 - (y - 7.5) ** 2
        assert row["feasible"] == (row["outcomes"]["disk"] >= 0)
    assert "nothing is overwritten" in pesky("import-spearmint", "config.json", "-o", "old.toml", code=2).stderr


def test_what_remains_to_be_done_is_said(pesky, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "main-file": "pesky_not_there.py"}))
    result = pesky("import-spearmint", tmp_path / "config.json", code=exit_codes.MISTAKE)
    assert "importing 'study_spearmint' raised ModuleNotFoundError: No module named 'pesky_not_there'" in result.stderr
    assert (tmp_path / "study.toml").exists()


def test_a_config_that_is_none_is_a_mistake(pesky, tmp_path):
    (tmp_path / "config.json").write_text("[]")
    assert 'has no "variables"' in pesky("import-spearmint", tmp_path / "config.json", code=exit_codes.MISTAKE).stderr
