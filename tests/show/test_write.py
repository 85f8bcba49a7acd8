"""Figures as files."""

import os
import re
import struct
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from show.browser import needs_chromium

from pesky.errors import DataError, PeskyError
from pesky.show import darkened, write
from pesky.show.theme import DARK, nothing


def figure() -> go.Figure:
    return nothing("Nothing: a picture of it", "it is empty")


def test_a_page_needs_no_network(tmp_path: Path):
    path = write(figure(), tmp_path / "picture.html")
    text = path.read_text()
    assert "Nothing: a picture of it" in text
    assert not re.search(r"<(?:script|link|img)[^>]*(?:src|href)=", text)


@needs_chromium
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_an_image_has_the_size_of_the_figure(ending: str, tmp_path: Path):
    content = write(figure(), tmp_path / f"picture.{ending}").read_bytes()
    if ending == "png":
        assert struct.unpack(">II", content[16:24]) == (2000, 480)
    else:
        assert b'width="1000" height="240"' in content


def test_without_a_browser_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    with pytest.raises(PeskyError, match="apt-get install chromium"):
        write(figure(), tmp_path / "picture.png")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["picture.gif", "picture", "nowhere/picture.html"])
def test_other_endings_and_folders_that_are_not_there_are_refused(name: str, tmp_path: Path):
    with pytest.raises(DataError, match=r"expected one of|in a folder that exists"):
        write(figure(), tmp_path / name)


def test_a_dark_figure_is_the_same_in_other_colors():
    light: Any = figure()
    dark: Any = darkened(light)
    assert dark.layout.template.layout.paper_bgcolor == DARK["paper"]
    assert light.layout.template.layout.paper_bgcolor == "#FFFFFF"
    assert dark.layout.title == light.layout.title
