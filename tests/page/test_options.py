"""What is to be seen of a picture, as the page sends it."""

import json
from inspect import signature
from typing import Any

import pytest
from page.served import Kept, QuickWork
from show.studies import found, made

from pesky.errors import DataError
from pesky.page.options import options_in
from pesky.show import PICTURES
from pesky.show.why import questions


def read(picture: str, text: str, study: str = "mixed") -> Any:
    return options_in(text, made(study).problem, signature(PICTURES[picture]).parameters)


def test_parameters_and_options_are_sent_by_their_places():
    assert read("belief", '{"along":[1,0]}') == {"parameters": ["units", "rate"]}
    assert read("belief", '{"at":{"0":" 1e-3","1":"4","2":2}}') == {"at": {"rate": 1e-3, "units": 4, "kind": "none"}}
    assert read("progress", '{"against":"cost"}') == {"against": "cost"}
    assert read("why", '{"along":[2],"evaluation":3}') == {"parameters": ["kind"], "evaluation": 3}
    assert read("limits", "") == {}


@pytest.mark.parametrize(
    ("picture", "text", "says"),
    [
        ("belief", "{", "no JSON"),
        ("belief", "[" * 900, "no JSON"),
        ("belief", "[]", "no JSON object"),
        ("belief", '{"along":0}', "their places"),
        ("belief", '{"along":[3]}', "from 0 to 2"),
        ("belief", '{"along":[-1]}', "from 0 to 2"),
        ("belief", '{"along":[true]}', "from 0 to 2"),
        ("belief", '{"along":[[0]]}', "from 0 to 2"),
        ("belief", '{"at":{"x":1}}', "from 0 to 2"),
        ("belief", '{"at":{"2":"none"}}', "from 0 to 2"),
        ("belief", '{"at":{"1":[1]}}', "a text or a number"),
        ("belief", '{"at":{"1":"2.5"}}', "whole number"),
        ("belief", '{"at":null}', "a text or a number"),
        ("belief", '{"study":1}', "'study' is none"),
        ("timeline", '{"along":[0]}', "'parameters' is none"),
        ("why", '{"evaluation":{}}', "a text or a number"),
    ],
)
def test_what_is_none_is_refused_in_words(picture: str, text: str, says: str):
    with pytest.raises(DataError, match=says):
        read(picture, text)


def drawn(name: str, study: str = "plain") -> Any:
    """The picture of this name and options, as it is sent to the page."""
    identity = made(study).identity
    work = QuickWork(Kept.at(made(study).store), {identity: made(study)}, {identity: found(study)})
    content: Any = work.draw(study=identity, name=name, renew=False)["content"]
    return json.loads(content)


def test_the_picture_is_the_one_that_was_chosen():
    assert "against cost" in drawn('progress {"against":"cost"}')["layout"]["title"]["text"]
    along = drawn('belief {"along":[0],"at":{"1":"0.5"}}')
    assert "at y = 0.5" in along["layout"]["title"]["text"]
    first = min(questions(found("plain")))
    asked = drawn(f'why {{"along":[1],"evaluation":{first}}}')
    assert f"question #{first}" in asked["layout"]["title"]["text"]
    assert [each["name"] for each in asked["data"]].count("asked") == 1


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ('progress {"against":"luck"}', "unknown axis"),
        ('belief {"along":[0,0]}', "none twice"),
        ('belief {"at":{"1":"7"}}', "from -2"),
        ('why {"evaluation":"3"}', "was not chosen"),
        ('why {"evaluation":999}', "was not chosen"),
        ('why {"evaluation":0}', "was not chosen"),
    ],
)
def test_and_says_why_there_is_none(name: str, says: str):
    with pytest.raises(DataError, match=says):
        drawn(name)
