"""A function named in a study file can be called here and in another process."""

import pickle
import subprocess
import sys

import pytest

from pesky.study_file import CallError, Function


def test_a_function_travels_by_name_and_finds_its_neighbors(tmp_path):
    (tmp_path / "pesky_measured.py").write_text(
        "def measure(params):\n    from pesky_neighbor import FACTOR\n    return params['x'] * FACTOR\n"
    )
    (tmp_path / "pesky_neighbor.py").write_text("FACTOR = 3\n")
    function = Function.parse("pesky_measured:measure", str(tmp_path))
    sent = pickle.dumps(function)
    code = f"import pickle; print(pickle.loads({sent!r})({{'x': 2}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", check=True)
    assert done.stdout == "6\n"


def test_loading_is_no_part_of_a_call_in_another_process(tmp_path):
    (tmp_path / "pesky_heavy.py").write_text(
        "import time\nprint('loading')\ntime.sleep(0.5)\ndef measure(params):\n    return 1.0\n"
    )
    sent = pickle.dumps(Function.parse("pesky_heavy:measure", str(tmp_path)))
    code = f"import pickle, time; f = pickle.loads({sent!r}); t = time.time(); f({{}}); print(time.time() - t < 0.4)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "loading\n")


def test_a_name_may_have_parts(tmp_path):
    assert Function.parse("os.path:join", str(tmp_path)).load()("a", "b") == "a/b"  # pyright: ignore[reportCallIssue]
    (tmp_path / "pesky_parts.py").write_text("class Lab:\n    def measure(params):\n        return 1.0\n")
    assert Function.parse("pesky_parts:Lab.measure", str(tmp_path))({}) == 1.0


def test_what_is_imported_inside_and_missing_is_not_taken_for_the_module(tmp_path):
    (tmp_path / "pesky_needy.py").write_text("import pesky_library_that_lacks\n")
    with pytest.raises(
        CallError, match="importing 'pesky_needy' raised ModuleNotFoundError: No module named 'pesky_lib"
    ):
        Function.parse("pesky_needy:measure", str(tmp_path)).load()


def test_a_module_that_exits_is_a_mistake_and_no_exit(tmp_path):
    (tmp_path / "pesky_leaver.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(CallError, match="raised SystemExit: 3"):
        Function.parse("pesky_leaver:measure", str(tmp_path)).load()


def test_two_modules_of_one_name_are_not_confused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pesky_twin.py").write_text(f"def measure(params):\n    return {folder!r}\n")
    assert Function.parse("pesky_twin:measure", str(tmp_path / "a"))({}) == "a"
    with pytest.raises(CallError, match="another module has that name"):
        Function.parse("pesky_twin:measure", str(tmp_path / "b"))({})
