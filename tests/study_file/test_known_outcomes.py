"""The [known] table of a study file: functions beside it, and each mistake with its key, its line and what to do."""

import pytest

from pesky.problem import Problem, Task
from pesky.study_file import StudyFile, StudyFileError

STUDY = """\
minimize = "cost"
constraints = ["c >= 0", "size <= 3"]
function = "{module}:measure"

[known]
cost = "{module}:cost"

[parameters]
x = {{ type = "real", low = 0, high = 1 }}

[budget]
evaluations = 5
"""
MODULE = """\
def cost(params):
    return 2 * params["x"]

def two(a, b):
    return 1.0

def broken(params):
    return float("nan")

def measure(params):
    return {"c": params["x"] - 0.3, "size": 1.0}
"""


@pytest.fixture
def write(tmp_path):
    """A function that writes a study file, with a part replaced, beside a module of its own."""
    module = f"pesky_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(MODULE)

    def write(old="", new=""):
        text = STUDY.format(module=module)
        assert old.format(module=module) in text
        path = tmp_path / "study.toml"
        path.write_text(text.replace(old.format(module=module), new.format(module=module), 1))
        return path

    return write


def test_a_known_function_is_found_beside_the_file(write):
    path = write()
    file = StudyFile.read(path, running=True)
    assert file.problem.outcomes == ("c", "size")
    assert dict(file.problem.tasks) == {"all": Task(["c", "size"])}
    assert file.problem.known["cost"]({"x": 0.25}) == 0.5
    stored = Problem.from_json(file.problem.to_json())
    assert stored == file.problem
    assert file.problem.to_dict()["known"] == {"cost": f"pesky_{path.parent.name}:cost"}


def test_to_look_at_a_study_imports_nothing(write):
    file = StudyFile.read(write('"{module}:cost"', '"pesky_not_there:cost"'), importing=False)
    assert file.problem.outcomes == ("c", "size")
    with pytest.raises(ValueError, match="pesky_not_there"):
        file.problem.known["cost"]({"x": 0.5})


# what is replaced, by what, the key, a text of the line where it is, and what the message must say
KNOWN = 'cost = "{module}:cost"'
MISTAKES = {
    "an unknown outcome": (KNOWN, 'cots = "{module}:cost"', "known.cots", "cots", "Did you mean 'cost'?"),
    "no function": (KNOWN, 'cost = "{module}:cots"', "known.cost", 'cost = "pesky', "it has 'cost'"),
    "no module": (KNOWN, 'cost = "pesky_lacks:cost"', "known.cost", 'cost = "pesky', "pesky_lacks"),
    "another signature": (KNOWN, 'cost = "{module}:two"', "known.cost", 'cost = "pesky', "a function of one argument"),
    "a file": (KNOWN, 'cost = "prices.py:cost"', "known.cost", 'cost = "prices', "did you mean 'prices:cost'?"),
    "a number": (KNOWN, "cost = 3", "known.cost", "cost = 3", "was 3: expected a module and a function"),
    "all that there is": (
        KNOWN, KNOWN + '\nc = "{module}:cost"\nsize = "{module}:cost"', "known", "[known]", "at least one outcome",
    ),
    "noise": ('minimize = "cost"', 'minimize = "cost"\nnoise = {{ cost = 0.1 }}', "noise.cost", "noise", "is known"),
    "a table that is none": ("[known]\n" + KNOWN, 'known = "{module}:cost"', "known", "known", "expected a table"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_has_its_key_its_line_and_what_to_do(kind, write):
    old, new, key, at, remedy = MISTAKES[kind]
    path = write(old, new)
    with pytest.raises(StudyFileError) as caught:
        StudyFile.read(path, running=True)
    (mistake,) = caught.value.mistakes
    assert mistake.key == key
    text = path.read_text()
    assert mistake.line == 1 + text[: text.index(at)].count("\n")
    assert remedy in mistake.message


def test_what_follows_from_a_table_that_cannot_be_read_is_not_a_mistake_too(write):
    tasks = '[tasks.run]\noutcomes = ["c", "size"]\nfunction = "{module}:measure"\n'
    path = write("[known]\n" + KNOWN, 'known = "{module}:cost"\n' + tasks)
    path.write_text(path.read_text().replace("function", "#", 1))
    with pytest.raises(StudyFileError) as caught:
        StudyFile.read(path)
    assert [mistake.key for mistake in caught.value.mistakes] == ["known"]


def test_a_task_that_measures_what_is_known_is_a_mistake_of_the_task(write):
    tasks = '[tasks.run]\noutcomes = ["cost", "c", "size"]\nfunction = "{module}:measure"\n\n[known]'
    path = write("[known]", tasks)
    path.write_text(path.read_text().replace("function", "#", 1))
    with pytest.raises(StudyFileError) as caught:
        StudyFile.read(path)
    (mistake,) = caught.value.mistakes
    assert mistake.key == "tasks.run.outcomes"
    assert "measures 'cost', which is known" in mistake.message


def test_a_function_that_gives_no_number_is_a_mistake(write):
    with pytest.raises(StudyFileError, match=r"known\.cost: the known outcome 'cost' at .* was nan"):
        StudyFile.read(write(":cost", ":broken"))
