from pathlib import Path

from benchmarks.imports import WHAT, Start, cpu_seconds, libraries, tabulate


def test_what_is_imported_is_seen_and_timed(tmp_path: Path):
    assert libraries("import pydantic", tmp_path) == ("pydantic",)
    assert 0.01 < cpu_seconds("import pydantic", tmp_path) < 30
    assert libraries(WHAT["python"], tmp_path) == ()


def test_the_table_has_a_line_for_each():
    assert tabulate([Start("pesky tell", 0.5, ("sqlalchemy",)), Start("python", 0.02, ())]).row_count == 2
