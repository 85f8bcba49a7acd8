"""Noise that nobody declared, on the command line."""

import json

STUDY = """\
minimize = "error"
function = "{module}:measure"

[parameters]
x = {{ type = "real", low = 0, high = 1 }}

[run]
initial = 1
"""


def test_the_status_and_why_say_what_the_values_say(pesky, project):
    project.write(STUDY)
    lines = ["x,error", *(f"{i / 11},{(i / 11 - 0.3) ** 2}" for i in range(12))]
    (project.folder / "data.csv").write_text("\n".join(lines))
    pesky("import", "study.toml", "data.csv")
    assert json.loads(pesky("status", "study.toml", "--json").stdout)["noise"] == {}
    pesky("ask", "study.toml")
    said = "noise, which the file does not declare, as the values said at #12: error none"
    assert said in pesky("status", "study.toml").stdout
    assert json.loads(pesky("status", "study.toml", "--json").stdout)["noise"] == {"error": 0.0}
    assert json.loads(pesky("status", "study.toml", "--json").stdout)["noise_as_of"] == 12
    assert "noise, which was not declared, as the values said: error none" in pesky("why", "study.toml").stdout


def test_few_values_tell_nothing_of_it(pesky, project):
    project.write(STUDY)
    for x in (0.1, 0.4, 0.6, 0.9):
        pesky("tell", "study.toml", "--params", f"x={x}", f"error={(x - 0.3) ** 2}")
    pesky("ask", "study.toml")
    assert "as the values said at #4: error cannot be told yet\n" in pesky("status", "study.toml").stdout
    assert "as the values said: error cannot be told yet" in pesky("why", "study.toml").stdout
    assert json.loads(pesky("status", "study.toml", "--json").stdout)["noise"] == {"error": None}
