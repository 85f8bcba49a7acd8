"""Who is answered: the page itself, and no other site."""

import pytest
from page.asgi import request
from starlette.responses import JSONResponse

from pesky.page.guard import Guard, is_loopback

TOKEN = "a token of this test"


async def app(scope, receive, send):
    await JSONResponse({"done": scope["path"]})(scope, receive, send)


GUARDED = Guard(app, "127.0.0.1", TOKEN)


def change(**headers: str | None):
    """A change as the page sends it, but for these headers."""
    return request(GUARDED, "/api/change/tell", {}, **{"x_pesky_token": TOKEN, **headers})


def test_the_page_itself_is_answered():
    assert change().said == {"done": "/api/change/tell"}
    assert change(sec_fetch_site="same-origin").status == 200
    assert request(GUARDED, "/api/study", x_pesky_token=TOKEN).status == 200


@pytest.mark.parametrize("token", [None, "", "another token", TOKEN + " ", "tökén"])
def test_without_the_token_there_are_no_data_and_no_changes(token: str | None):
    assert change(x_pesky_token=token).status == 401
    assert request(GUARDED, "/api/study", x_pesky_token=token).status == 401
    assert request(GUARDED, "/", x_pesky_token=token).status == 200  # which says nothing of any study


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "http://127.0.0.1:9999", "https://evil.example:8765", "http://[", "//]", "["],
)
def test_changes_from_other_sites_are_refused(origin: str | None):
    assert change(origin=origin).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_says_is_from_another_site_is_refused_but_for_a_link_to_the_page(site: str):
    assert change(sec_fetch_site=site).status == 403
    assert request(GUARDED, "/api/study", x_pesky_token=TOKEN, sec_fetch_site=site).status == 403
    assert request(GUARDED, "/static/page.js", sec_fetch_site=site).status == 403
    assert request(GUARDED, "/", sec_fetch_site=site).status == 200


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_form_of_another_site_cannot_send_what_is_taken(kind: str | None):
    assert change(content_type=kind).status == 415


@pytest.mark.parametrize("length", [None, "", "x", "1000001", "9" * 5000])
def test_a_change_says_how_long_it_is_and_is_not_endless(length: str | None):
    assert change(content_length=length).status == 413


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("encoding", ["chunked", "gzip, chunked", "identity", ""])
def test_a_request_without_a_length_is_refused_whatever_length_it_says_beside(method: str, encoding: str):
    answer = request(
        GUARDED, "/api/change/tell", method=method, raw=b"{}", x_pesky_token=TOKEN, transfer_encoding=encoding
    )
    assert (answer.status, answer.read) == (411, 0)
    assert "how many bytes" in answer.said["error"]


@pytest.mark.parametrize("header", ["x_pesky_token", "content_length", "content_type", "origin", "host"])
def test_what_is_refused_is_not_read_and_its_connection_is_closed(header: str):
    answer = change(**{header: None})
    assert 400 <= answer.status < 500
    assert answer.read == 0
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "[", "192.168.1.5:8765"]
)
def test_other_names_of_this_machine_are_refused(host: str):
    """Of DNS that points to 127.0.0.1, the page of the one who made it so would be the same site."""
    assert request(GUARDED, "/", host=host).status == 421
    assert change(host=host, origin=f"http://{host}").status == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "localhost:9000", "[::1]:8765", "LOCALHOST"])
def test_its_own_names_are_answered_also_through_a_tunnel(host: str):
    assert change(host=host, origin=f"http://{host}").status == 200


def test_what_the_network_reaches_is_asked_for_by_an_address_or_the_names_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("socket.gethostname", lambda: "Bench")
    monkeypatch.setattr("socket.getfqdn", lambda: "bench.lab.example")
    guarded = Guard(app, "0.0.0.0", None)
    monkeypatch.setattr("socket.getfqdn", None)  # is not asked again for each request
    for name in ("192.168.1.5", "bench", "BENCH:8765", "bench.lab.example.", "localhost", "127.0.0.1", "[fe80::1]:1"):
        assert request(guarded, "/", host=name).status == 200, name
    for name in ("evil.example", "", "bench.evil.example", "0.0.0.0.evil.example", "2130706433.evil", "bench@evil"):
        assert request(guarded, "/", host=name).status == 421, name
    assert is_loopback("127.0.0.9")
    assert not is_loopback("bench")


def test_every_answer_tells_the_browser_what_it_may_not_do():
    for answer in (change(), change(origin="http://evil.example"), request(GUARDED, "/", host="evil.example")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers


def test_a_preflight_of_another_site_is_refused():
    assert request(GUARDED, "/api/change/tell", method="OPTIONS", origin="http://evil.example").status == 403
