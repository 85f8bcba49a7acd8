import json

from benchmarks.outliers import main


def test_what_is_found_is_printed(capsys, tmp_path):
    main(["--rows", "1", "--only", "0.9 among", "--json", str(tmp_path / "rows.json")])
    found = json.loads((tmp_path / "rows.json").read_text())
    planted = {each["kind"]: each for each in found["planted"]}
    each = planted["0.9 among 0.02"]
    assert each["wrong"] == 0
    assert each["found"] == each["inside"]
    assert "0.9 among 0.02" in capsys.readouterr().out


def test_a_picture_is_drawn(tmp_path):
    main(["--figure", str(tmp_path / "outlier.png")])
    assert (tmp_path / "outlier.png").stat().st_size > 10_000
