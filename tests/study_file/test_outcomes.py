"""The [outcomes] tables of a study file: ranges, and each mistake with its key."""

from pesky import Outcome
from pesky.study_file import StudyFile


def test_a_range_is_that_of_the_problem(base, folder):
    path = folder / "ranges.toml"
    path.write_text(base + "\n[outcomes.error]\nlow = 0\nhigh = 1\n\n[outcomes.latency_ms]\nlow = 0\n")
    assert StudyFile.read(path).problem.ranges == {
        "error": Outcome("error", 0, 1),
        "latency_ms": Outcome("latency_ms", 0),
    }


def test_mistakes_have_their_key(base, mistakes):
    found = mistakes(base + "\n[outcomes.error]\nlow = 1\nhigh = 0\n")
    assert [(each.key, "expected low below high" in each.message) for each in found] == [("outcomes.error", True)]
    (found,) = mistakes(base + "\n[outcomes.latency_ms]\nlow = 3\nhigh = 9\n")
    assert found.key == "outcomes.latency_ms"
    assert "no value satisfies 'latency_ms <= 2': latency_ms is from 3 to 9" in found.message
    assert "unknown outcome 'eror'" in mistakes(base + "\n[outcomes.eror]\nlow = 1\n")[0].message
    assert mistakes(base + "\n[outcomes.error]\nleast = 1\n")
