"""`pesky upgrade`: tables of an older pesky, made into those of this one."""

from typing import Annotated

import typer

from pesky.cli.consoles import say


def upgrade(
    url: Annotated[
        str, typer.Argument(metavar="URL", help='The storage, like "sqlite:///toy.db".', show_default=False)
    ],
) -> None:
    """Bring a storage that an older pesky made up to date. Make a copy first."""
    from pesky.store.sql.upgrade import upgrade as migrate

    before, now = migrate(url)
    say(f"Up to date already: version {now}." if before == now else f"Upgraded from version {before} to {now}.")
