from pathlib import Path

from benchmarks.imports import WHAT, Start, measure, tabulate


def test_what_is_imported_is_seen_and_timed(tmp_path: Path):
    start = measure("pydantic", "import pydantic", tmp_path, runs=1)
    assert start.libraries == ("pydantic",)
    assert 0.01 < start.seconds < 30
    assert measure("nothing", WHAT["python"], tmp_path, runs=1).libraries == ()


def test_the_table_has_a_line_for_each():
    assert tabulate([Start("pesky tell", 0.5, ("sqlalchemy",)), Start("python", 0.02, ())]).row_count == 2
