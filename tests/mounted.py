"""Folders that cannot be written to, whoever runs the tests: to the superuser permissions mean nothing."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """A function that gives a copy of a folder in which nothing can be written."""
    mounted: list[Path] = []

    def freeze(folder: Path) -> Path:
        place = tmp_path / "frozen"
        if os.geteuid() != 0:
            shutil.copytree(folder, place)
            for each in (*place.rglob("*"), place):
                each.chmod(0o555 if each.is_dir() else 0o444)
            mounted.append(place)
            return place
        place.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], capture_output=True).returncode != 0:
            pytest.skip("no file system can be mounted here")
        mounted.append(place)
        shutil.copytree(folder, place, dirs_exist_ok=True)
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        return place

    yield freeze
    for place in mounted:
        if os.geteuid() == 0:
            subprocess.run(["umount", "-l", place], check=True)
        else:
            for each in (place, *place.rglob("*")):
                each.chmod(0o755)
