"""Which database a URL means, and how to show it without its secrets."""

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from pesky.errors import StorageError

if TYPE_CHECKING:  # texts are hidden and paths found without SQLAlchemy, which takes a while to import
    from sqlalchemy.engine import URL

EXPECTED = 'expected one like "sqlite:///study.db" or "postgresql://user@host/database"'
_DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
SCHEMES = tuple(_DRIVERS)
_OPTIONS = {"uri", "timeout", "isolation_level", "detect_types", "check_same_thread", "cached_statements"}
"""What Python's driver of SQLite can be told in a URL; a URI of SQLite's own may have more."""

_SHOWN = (
    {"user", "host", "hostaddr", "port", "dbname", "application_name", "client_encoding", "connect_timeout"}
    | {"keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"}
    | {"sslmode", "sslnegotiation", "sslcert", "sslrootcert", "sslcrl", "sslsni", "channel_binding", "gssencmode"}
    | {"target_session_attrs", "load_balance_hosts", "service", "replication"}
    | _OPTIONS
    | {"mode", "cache", "immutable", "nolock", "psow", "vfs"}
)
"""The options of a URL, PostgreSQL's and SQLite's, whose values are shown where they are plain; no others are."""
_PLAIN = re.compile(r"/[\w.,/+-]*|[\w.,+-]*")
_VALUE = re.compile(r"[^\s&#'\"]*")

_LONGEST = 10_000
"""Characters of a text beyond which nothing of it is shown: it is no URL, and nobody reads it."""
_SECRET = re.compile(r"pass|pwd|secret|token|credential|scram|(?<![a-z])pw(?![a-z])|(?<![a-z])(?:api_?)?key(?![a-z])")
_EQUALS = re.compile(r"(?:=|%(?:25)*3[Dd])\s*")
_EMAN = re.compile(r"\s{0,4}([^\s&?=;,'\"{}]{0,60})")  # a name as it ends, read from there
# a value goes on to the next &name= or to the end: who forgot to write & as %26 has a secret, too
_NEXT = re.compile(r"&[\w.%-]+=")
_QUERY = re.compile(r"\?|%(?:25)*3[Ff]")
_USER = re.compile(r"[\"'(]*([\w.+-]*)")
_HOSTS = re.compile(r"(?:\[[\da-fA-F:.%]*\]|[\w./-]*)(?::\d*)?(?:,(?:\[[\da-fA-F:.%]*\]|[\w./-]*)(?::\d*)?)*")
_FIRST = re.compile(r"[\w.-]*:?")
_WORD = re.compile(r"[^\s/?#&=,;:@]+")
_RUN = re.compile(r"[^\s?&=@]+")


def parse(given: object) -> "URL":
    """The URL with the driver that pesky uses, and a file's path in full: the process may change its folder."""
    from sqlalchemy.engine import URL, make_url
    from sqlalchemy.exc import ArgumentError

    if isinstance(given, URL):
        given = rendered(given)
    if not isinstance(given, str) or "://" not in given:
        raise StorageError(_no_url(given))
    said = hidden(given)
    if "\0" in unquote(given):
        raise StorageError(f"the storage was {said!r}: expected no NUL character in it.")
    scheme, _, rest = given.partition("://")
    if _is_file(scheme):
        return _file(scheme, rest)
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):  # its text would repeat the password, and so would the chain of causes
        raise StorageError(f"the storage was {said!r}, which is no URL: {EXPECTED}.") from None
    if url.drivername not in _DRIVERS:
        raise StorageError(f"the storage was {said!r}: {EXPECTED}; there is no other kind.")
    if "@" in (url.host or "") or (url.username is None and "@" in rest.partition("?")[0]):
        raise StorageError(
            f"the storage was {said!r}: expected an @ in a password to be written as %40, and a / in a user as %2F."
        )
    if not _is_host(rest.rpartition("@")[2]):
        raise StorageError(f"the storage was {said!r}: expected the name of a host before the name of the database.")
    return url.set(drivername=_DRIVERS[url.drivername])


def rendered(url: "URL") -> str:
    """The URL as text, secrets included, of which `parse` makes the same again."""
    text = url.render_as_string(hide_password=False)
    if not _is_file(url.drivername):
        return text
    # SQLAlchemy's versions differ in whether they encode a path
    _, mark, options = text.partition("?")
    path = str(url.database)
    return f"{url.drivername}:///{path if is_uri(url) else encoded(path)}{mark}{options}"


def shown(url: "URL") -> str:
    """The URL for people to read: no driver, no secrets."""
    text = rendered(url.set(drivername=url.get_backend_name()))
    return _shown_file(text) if _is_file(url.drivername) else hidden(text)


def hidden(text: str) -> str:
    """A text, be it a URL or none, with whatever may be a password in it hidden, in time linear in its length.

    What is shown are names of users and hosts, ports, paths, and plain values of known options: anything else where
    those belong is hidden.
    """
    if len(text) > _LONGEST:
        return f"*** ({len(text)} characters)"
    scheme, mark, rest = text.partition("://")
    if mark and _has_options(rest.rpartition("@")[0]):  # the @ is of a password with a ?, or of a value: nobody knows
        return f"{scheme}://***"
    is_url = text.startswith("?") or "://" in _decoded(text)
    text = _without_values(text, is_url=is_url)
    text, *foreign = re.split("jdbc:", text, maxsplit=1, flags=re.IGNORECASE)
    if "://" in text:
        scheme, _, rest = text.partition("://")
        # who forgot to write @ and / as %40 and %2F has a password, too
        user, at, host = rest.rpartition("@")
        text = f"{scheme}://{_shown_user(user) + at}{_shown_host(_without_word(host, user.partition(':')[2]))}"
    else:
        text = "".join(_shown_word(each) for each in re.split(r"(\s)", text))
    # who encoded the @, too, has a URL where a part of one belongs
    text = _RUN.sub(lambda run: "***" if "@" in unquote(unquote(run[0])) else run[0], text)
    return f"{text}jdbc:***" if foreign else text


def is_secret(key: str) -> bool:
    """Whether a key of a URL, percent-encoded or not, is one whose value nobody should see."""
    key = _decoded(key)
    return unquote(key) != key or _SECRET.search(key.lower()) is not None


def is_shown(key: str, value: object) -> bool:
    """Whether an option of a URL, percent-encoded or not, is known to be no secret, and its value is a plain one."""
    key, said = _decoded(key), _decoded(str(value))
    pattern = _HOSTS if key in ("host", "hostaddr") else _PLAIN
    return key in _SHOWN and not is_secret(key) and pattern.fullmatch(said) is not None


def secrets(url: "URL") -> list[str]:
    """What must never be shown of a URL, the longest first."""
    values = [value for key, given in url.normalized_query.items() for value in given if not is_shown(key, value)]
    return sorted({value for value in (str(url.password or ""), *values) if value}, key=len, reverse=True)


def url_of(path: str | os.PathLike[str]) -> str:
    """The URL of a file, whatever characters its path has."""
    return f"sqlite:///{encoded(os.fspath(path))}"


def encoded(path: str) -> str:
    """A path as it stands in a URL: all but two characters may be there as they are."""
    return path.replace("%", "%25").replace("?", "%3F")


def path_of(url: str) -> str | None:
    """The path of the file that a URL means; None if it means a server, or has a URI of SQLite's own."""
    scheme, _, rest = url.partition("://")
    path, _, options = rest.removeprefix("/").partition("?")
    return unquote(path) if _is_file(scheme) and not _says_uri(path, dict(parse_qsl(options))) else None


def split_file(url: str) -> tuple[str, dict[str, str]]:
    """The path as it stands in the URL of a file, and the options; a StorageError if it is none that can be opened."""
    _, _, rest = url.partition("://")
    said = _shown_file(url) if rest.startswith("/") else hidden(url)
    text, _, options = rest.removeprefix("/").partition("?")
    query = dict(parse_qsl(options, keep_blank_values=True))
    if text in ("", ":memory:") or query.get("mode") == "memory" or text.startswith("file::memory:"):
        raise StorageError(f'the storage was "{said}", in memory: leave it out to keep a study in memory.')
    if not rest.startswith("/"):
        raise StorageError(
            f'the storage was "{said}": expected three slashes before the path of a file, like "sqlite:///study.db".'
        )
    unknown = [] if _says_uri(text, query) else [key for key in query if key not in _OPTIONS]
    if unknown:
        raise StorageError(
            f'the storage was "{said}", and {unknown[0]!r} is no option of SQLite: write ? as %3F where it is part of '
            "the file's name."
        )
    return text, query


def is_uri(url: "URL") -> bool:
    """Whether the URL has a URI of SQLite's own, which says itself where the file lies."""
    return _is_file(url.drivername) and _says_uri(str(url.database), dict(url.query))


def _without_values(text: str, *, is_url: bool) -> str:
    """The text without the values of options that are secret; of a URL, without all that are not known to be none."""
    kept, at = [], 0
    for sign in _EQUALS.finditer(text):
        name = _EMAN.match(text[max(sign.start() - 64, 0) : sign.start()][::-1])
        if sign.start() < at or name is None:
            continue
        key, before = name[1][::-1], text[: sign.start() - name.end()][-1:]
        if is_secret(key) or (is_url and not _is_known(before, key, text, sign.end())):
            following = _NEXT.search(text, sign.end())
            kept.append(f"{text[at : sign.end()]}***")
            at = len(text) if following is None else following.start()
    return "".join(kept) + text[at:]


def _has_options(text: str) -> bool:
    """Whether there is a ? with an = somewhere behind it, encoded or not."""
    query = _QUERY.search(text)
    return query is not None and _EQUALS.search(text, query.end()) is not None


def _is_known(before: str, key: str, text: str, at: int) -> bool:
    """Whether this is no option of a URL, or one that is shown with the value that begins there."""
    *others, last = re.split("[?&;#]", _decoded(key))
    if not others and before not in ("?", "&", ";", "#"):
        return True
    value = _VALUE.match(text, at)
    return value is not None and (value[0] == "***" or is_shown(last, value[0]))


def _decoded(text: str) -> str:
    """The text without the percent signs of somebody who encoded it once, or again."""
    for _ in range(3):
        text = unquote(text)
    return text


def _shown_user(given: str) -> str:
    """What stands before an @ without the password."""
    user = _USER.match(given)
    if user is None or user.end() == len(given) or given == "***":
        return given
    return f"{user[0]}:***" if given[user.end()] == ":" else "***"


def _shown_host(given: str) -> str:
    """What comes after it; the port of somebody who forgot the host is no number, and so may be the password."""
    if _is_host(given):
        return given
    first = _FIRST.match(given)
    return f"{first[0] if first else ''}***"


def _is_host(given: str) -> bool:
    """Whether a text begins with hosts and ports as they are written after a user, or with nothing in their place."""
    authority = re.split(r"[/?#'\"\s]", given, maxsplit=1)[0]
    return _HOSTS.fullmatch(unquote(authority).replace("***", "")) is not None


def _without_word(text: str, secret: str) -> str:
    """The text without a word that is the secret once more."""
    plain = unquote(secret)
    return _WORD.sub(lambda word: "***" if plain and unquote(word[0]) == plain else word[0], text)


def _shown_word(word: str) -> str:
    """A word that is no URL, or may be the part of one that somebody gave."""
    user, at, host = word.rpartition("@")
    return f"{_shown_user(user)}@{host}" if at else word


def _shown_file(url: str) -> str:
    """The URL of a file for people to read: a path has no secrets, whatever characters it has."""
    path, mark, options = url.partition("?")
    return path + hidden(f"{mark}{options}")


def _says_uri(path: str, options: dict[str, object] | dict[str, str]) -> bool:
    return path.startswith("file:") and str(options.get("uri")).lower() in ("true", "yes", "on", "y", "t", "1")


def _is_file(scheme: str) -> bool:
    return scheme.startswith("sqlite") and scheme in _DRIVERS


def _no_url(given: object) -> str:
    """What to say of something that is no URL."""
    if isinstance(given, str | os.PathLike):
        text = os.fspath(given)
        is_path = isinstance(text, str) and bool(text) and not re.search("[@=:]", unquote(unquote(text)))
        hint = f' Did you mean "{url_of(text)}"?' if is_path else ""
        return f"the storage was {hidden(str(text))!r}: {EXPECTED}.{hint}"
    # what is inside of a list, say, may be a URL with a password
    said = repr(given) if isinstance(given, int | float | None) else f"of type {type(given).__name__}"
    return f"the storage was {said}: {EXPECTED}."


def _file(scheme: str, rest: str) -> "URL":
    from sqlalchemy.engine import URL

    text, query = split_file(f"{scheme}://{rest}")
    if _says_uri(text, query):
        return URL.create(_DRIVERS[scheme], database=text, query=query)
    path = os.path.abspath(unquote(text))
    if not os.path.isdir(os.path.dirname(path)):
        said = _shown_file(f"{scheme}://{rest}")
        raise StorageError(
            f'the storage was "{said}", and the folder {os.path.dirname(path)!r} does not exist: '
            "create it, or correct the path (three slashes begin a relative path, four an absolute one)."
        )
    return URL.create(_DRIVERS[scheme], database=path, query=query)
