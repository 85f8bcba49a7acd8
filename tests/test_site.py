"""The documentation: pages are found, links lead somewhere, names are explained, what is shown is what is printed."""

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from markdown.extensions.toc import slugify
from test_public import NAMES

from docs.notebook import FOLDER, executed, page_of
from docs.site import ARCHIVE, ELSEWHERE
from docs.transcripts import pages_with_outputs, transcribed

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
HISTORY = re.compile(
    r"earlier version|version before|older version of pesky|did before|tried\.md"
    r"|\bnow \.?\d|a day older|was built|(?:was|were) chosen (?:among|by|from)"
)
"""What was: how it was before, and figures of versions without a name."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.MULTILINE)
    return {slugify(re.sub(r"[`\\*]|\]\([^)]*\)", "", heading), "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)", without_code(page.read_text())):
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{page.name} links to {target}, which is not there"
        assert there.is_relative_to(ROOT)
        assert not anchor or anchor in anchors(there), f"{page.name} links to {target}#{anchor}: no such heading"


def test_every_page_is_in_the_navigation_once():
    def leaves(node: object) -> Iterator[str]:
        if isinstance(node, str):
            yield node
        for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
            yield from leaves(each)

    shown = list(leaves(SITE["nav"]))
    pages = [page for page in PAGES if page.is_relative_to(ROOT / "docs") and not name_of(page).startswith(ARCHIVE)]
    there = {str(page.relative_to(ROOT / "docs")) for page in pages} | ELSEWHERE.keys()
    assert sorted(shown) == sorted(there | {f"notebooks/{file.stem}.md" for file in NOTEBOOKS})


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name_of)
def test_pages_are_of_today(page: Path):
    """History is in docs/archive: a reader of a guide looks for what is."""
    if not name_of(page).startswith(ARCHIVE):
        assert HISTORY.findall(guidance(page)) == []


def guidance(page: Path) -> str:
    """Its text, without the one link to the archive that METHOD has."""
    return page.read_text().replace("(archive/tried.md)", "")


def explained() -> Iterator[str]:
    """The dotted names that the reference pages ask mkdocstrings for."""
    for page in ROOT.glob("docs/reference/*.md"):
        for module, options in re.findall(r"^::: (\S+)\n((?: {4}.*\n)+)", page.read_text(), re.MULTILINE):
            yield from (f"{module}.{name}" for name in yaml.safe_load(options)["options"]["members"])


def public(path: str) -> str:
    """`pesky.show.why` of `pesky.show.why.why`: mkdocstrings takes the first for the module."""
    return re.sub(r"\.(\w+)\.\1$", r".\1", path)


def test_every_public_name_is_on_a_reference_page_once():
    """Of a name that `pesky` and a module below it have, `pesky.Budget` and `pesky.study.Budget`, one is enough."""
    names = [public(path) for path in explained()]
    assert len(names) == len(set(names))
    listed = {f"{module}.{name}" for module in NAMES for name in NAMES[module]}
    assert set(names) - listed == set()

    def is_explained(path: str) -> bool:
        name = path.rpartition(".")[2]
        twins = {f"pesky.{name}"} if path != f"pesky.{name}" else {each for each in listed if each.endswith(f".{name}")}
        return path in names or not twins.isdisjoint(names)

    assert {path for path in listed if not is_explained(path)} == set(), "these belong on a page of docs/reference"


def masked(page: str) -> str:
    """A page without numbers, which differ by machine, and spaces: the words are what must be the same."""
    return re.sub(r"[-\d.#±:a-f]*\d[-\d.e+:a-f]*|[─\s]+", " ", re.sub(r"@[0-9a-f]{6}\b", "", page))


def test_a_transcript_has_what_is_printed(tmp_path: Path):
    page = '```text title="a.txt"\nhello\n```\n\n```console\n$ cat a.txt\nold\n```\n\n```python\nprint(2 + 3)\n```\n\n'
    page += "```text\n4\n```\n"
    assert transcribed(page, tmp_path) == page.replace("old", "hello").replace("4", "5")


@pytest.mark.parametrize("page", pages_with_outputs(), ids=name_of)
def test_what_pages_show_is_what_is_printed(page: Path, tmp_path: Path):
    text = page.read_text()
    assert masked(transcribed(text, tmp_path)) == masked(text)


def words_of(notebook: dict[str, Any]) -> list[str]:
    """What the cells of a notebook print and show, without numbers."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return [masked("".join(each["text"] if "text" in each else each["data"]["text/plain"])) for each in outputs]


def as_text(value: object) -> dict[str, Any]:
    """What is kept of a value: of a figure, that it is one, since to draw it takes a browser."""
    return {"text/plain": ["a figure"] if hasattr(value, "to_plotly_json") else [repr(value)]}


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_show_what_they_show(file: Path):
    notebook = json.loads(file.read_text())
    assert words_of(executed(notebook, as_text)) == words_of(notebook)


def test_a_notebook_runs_with_less_to_spend():
    text = (FOLDER / "tutorial.ipynb").read_text()
    for much, less in {"budget=12": "budget=3", "explain(6)": "explain(1)", "show.belief": "show.timeline"}.items():
        assert much in text
        text = text.replace(much, less)
    notebook = executed(json.loads(text), as_text)
    assert [len(cell["outputs"]) for cell in notebook["cells"] if cell["cell_type"] == "code"] == [1] * 8
    assert "```python" in page_of(notebook, "tutorial.ipynb")


def test_the_site_has_no_warnings_and_needs_no_network(tmp_path: Path):
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(
        build, cwd=ROOT, capture_output=True, text=True, check=False, env={"NO_MKDOCS_2_WARNING": "1"}
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert [*tmp_path.rglob("*.py*"), *tmp_path.rglob("__pycache__")] == []  # what makes the site is no part of it
    assert not (tmp_path / "archive").exists()  # nor is history, and no search finds it
    pages = {page: page.read_text() for page in tmp_path.rglob("*.html")}
    there = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    assert {path for path in explained() if not any(path in each for each in there.values())} == set()
    for page, text in pages.items():
        loaded = re.findall(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="?([^"\s>]+)', text)
        loaded += re.findall(r'<link\b[^>]*\bhref="?([^"\s>]+)', text)
        assert [each for each in loaded if re.match(r"(https?:)?//", each)] == []
        for link in re.findall(r'\b(?:href|src)="([^"]+)"', text):
            if not re.match(r"https?:|data:|mailto:", link):
                target, _, anchor = html.unescape(link).partition("#")
                file = (page.parent / unquote(target)).resolve() if target else page
                file = file / "index.html" if file.is_dir() else file
                assert file.exists(), f"{page.name} links to {link}"
                assert not anchor or file not in there or anchor in there[file] | {"__"}, f"{page.name} links to {link}"
