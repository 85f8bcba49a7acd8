"""`pesky page`: the report, live, in a browser."""

from typing import Annotated

import typer

from pesky.cli.consoles import say


def page(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY.toml|STORAGE",
            help="The study file; or a storage with all its studies: a database file or a URL.",
            show_default=False,
        ),
    ],
    host: Annotated[str, typer.Option(help="The address to serve at; 0.0.0.0 is all of this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8765,
    write: Annotated[
        bool,
        typer.Option("--write", help="Let whoever has the page's address ask, tell, fail, enqueue, add and correct."),
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(
            help="What has to be known to open the page; one is drawn with --write.", envvar="PESKY_PAGE_TOKEN"
        ),
    ] = None,
) -> None:
    """Serve a page that shows the study as it goes, with all pictures, until Ctrl-C.

    It changes nothing unless --write is given, and only this machine reaches it unless --host is.
    """
    from pesky.page.server import serve
    from pesky.page.source import Source

    serve(Source.of(study), say, host=host, port=port, write=write, token=token)
