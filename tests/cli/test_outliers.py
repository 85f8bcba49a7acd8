"""A value that all others contradict, on the command line."""

import json
import math

STUDY = """\
minimize = "error"
function = "{module}:measure"

[parameters]
x = {{ type = "real", low = 0, high = 1 }}

[run]
rule = "eic"
initial = 1
"""


def test_the_status_names_what_is_left_out_until_it_is_corrected_or_excluded(pesky, project):
    project.write(STUDY)
    values = [0.02 + 0.01 * math.sin(4 * i / 15) + 1e-4 * math.sin(50 * i) for i in range(15)]
    values[6] = 0.9
    lines = ["x,error", *(f"{(i + 0.5) / 15},{value}" for i, value in enumerate(values))]
    (project.folder / "data.csv").write_text("\n".join(lines))
    pesky("import", "study.toml", "data.csv")
    assert json.loads(pesky("status", "study.toml", "--json").stdout)["outliers"] == []
    pesky("ask", "study.toml")
    assert "  evaluation #6: error = 0.9 does not fit the other 14 values" in pesky("status", "study.toml").stdout
    (named,) = json.loads(pesky("status", "study.toml", "--json").stdout)["outliers"]
    assert (named["evaluation"], named["outcome"], named["value"]) == (6, "error", 0.9)
    assert "error = 0.9 does not fit" in pesky("why", "study.toml").stdout
    pesky("exclude", "study.toml", 6)
    assert "does not fit" not in pesky("status", "study.toml").stdout
