"""What mkdocs builds the site from besides the pages of docs/: the README as its first page, and the notebooks.

Links on pages are those that work in the repository. On the site they lead to the page, or to the repository where
a file is no page.
"""

import json
import re
import sys
from os.path import relpath
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # mkdocs loads this file by its path
from docs import notebook  # noqa: E402

ELSEWHERE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
"""Pages of the site that lie outside of docs/."""
NAMED = re.compile(r"\[[\w/]+\.md\](\((?!https?:)([^)\s#]+)[^)]*\))")
"""A link whose text is the name of a file, as it is in the repository."""
BOOSTED = (
    "install.md",
    "tutorial.md",
    "howto/",
    "stating.md",
    "answer.md",
    "changing.md",
    "running.md",
    "pictures.md",
    "page.md",
)
"""Pages that a search finds before the reference and the changelog."""
ARCHIVE = "docs/archive/"
"""What was measured and tried once: in the repository, and no part of the site."""
LINK = re.compile(r"(\]\()(?!https?:|#)([^)\s#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files of docs/, the pages that lie elsewhere, and a page for each notebook."""
    for page, source in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    for file in notebook.FOLDER.glob("*.ipynb"):
        content = notebook.page_of(json.loads(file.read_text()), file.name)
        files.append(File.generated(config, f"notebooks/{file.stem}.md", content=content))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """Nothing is left of the theme's page for what is not found: its links are those of a server."""
    (Path(config.site_dir) / "404.html").unlink(missing_ok=True)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page with links that lead somewhere on the site."""
    here = PurePosixPath(page.file.src_uri)
    folder = (ROOT / ELSEWHERE.get(str(here), f"docs/{here}")).parent
    pages = {source: page for page, source in ELSEWHERE.items()}
    if str(here).startswith(BOOSTED):
        page.meta.setdefault("search", {"boost": 4})

    def led(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        if not target.is_relative_to(ROOT) or not target.exists():
            return match[0]  # which mkdocs will say is wrong
        source = target.relative_to(ROOT).as_posix()
        if source in pages or (source.startswith("docs/") and not source.startswith(ARCHIVE)):
            return match[1] + relpath(pages.get(source, source.removeprefix("docs/")), here.parent)
        return f"{match[1]}{config.extra['source']}{source}"

    def titled(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        return f"[{title_of(target)}]{match[1]}" if target.is_file() else match[0]

    return LINK.sub(led, NAMED.sub(titled, markdown))


def title_of(page: Path) -> str:
    """Its first heading."""
    return page.read_text().partition("\n")[0].removeprefix("# ")
