"""Every picture of every study: it is drawn, its texts are harmless, and it says in its title what is seen."""

import html
import json
import re

import pytest
from show.studies import NAMES, SCRIPT, found, made

from pesky.cli.show import NAMES as OFFERED
from pesky.show import PICTURES


def texts(given: object) -> list[str]:
    """All texts of a figure, wherever they are."""
    if isinstance(given, str):
        return [given]
    each = (
        [v for k, v in given.items() if k != "bdata"]
        if isinstance(given, dict)
        else given
        if isinstance(given, list)
        else ()
    )
    return [text for one in each for text in texts(one)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("picture", PICTURES)
def test_every_picture_of_every_study(picture: str, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pesky.answer.what_if.STEPS", (0,))  # each threshold takes a second
    figure = PICTURES[picture](found(name))
    title = figure.layout.title.text
    assert re.match(r"<b>[A-Z][a-z ]+: ", title), title
    assert figure.data or figure.layout.annotations
    plain = json.loads(figure.to_json())
    plain["layout"].pop("template")
    said = texts(plain)
    assert not [text for text in said if SCRIPT in text or "<script" in text]
    assert max(map(len, said)) < 2000
    # what is markup is ours: lines, bold words and the size of the subtitle
    ours = re.compile(r"</?b>|<br>|<span style='font-size:13px'>|</span>|<extra></extra>")
    assert not [text for text in said if "<" in ours.sub("", text)]


def test_the_command_line_offers_every_picture():
    assert tuple(PICTURES) == OFFERED


def test_names_are_shown_as_they_are_written():
    figure = PICTURES["belief"](found("hostile"))
    ticks = [text for axis in figure.select_xaxes() for text in (axis.ticktext or ())]
    assert any(html.unescape(text).startswith("<scrip") for text in ticks), ticks


@pytest.mark.parametrize("picture", PICTURES)
def test_without_plotly_it_says_what_to_install(picture: str, monkeypatch: pytest.MonkeyPatch):
    import sys

    from pesky.errors import PeskyError

    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(PeskyError, match=r'pip install .*"plotly>='):
        PICTURES[picture](made("none"))
