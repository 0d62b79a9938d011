"""Errors that only the servers raise: HTTP, dashboard and MCP.

They are here, and not where they are raised, so that they can be imported without the extra `serve`.
"""

from __future__ import annotations

from engram.errors import Error


class Misdirected(Error):
    """The Host header does not match this server."""

    code, status = "misdirected", 421


class ForeignOrigin(Error):
    """The request comes from a web page of another origin ({header}). Only local programs may call."""

    code, status = "foreign_origin", 403


class NotAllowed(Error):
    """{method} is not allowed here. Use {allowed}."""

    code, status = "method_not_allowed", 405


class NotJson(Error):
    """The body must be JSON in UTF-8, sent as Content-Type: application/json."""

    code, status = "not_json", 415


class NoForm(Error):
    """The body must be a form in UTF-8, sent as Content-Type: application/x-www-form-urlencoded."""

    code, status = "no_form", 415


class Interrupted(Error):
    """The call was cancelled because the server is stopping or the client disconnected."""

    code, status = "interrupted", 503


class InternalError(Error):
    """Internal error in Engram; see the server's log."""

    code, status = "internal", 500


class AlreadyServing(Error):
    """A server for this Engram home already listens at {address}. Use it, or stop it first."""

    code, status = "already_serving", 409


class NoLink(Error):
    """Cannot get a link from the server at {url}: {reason}"""

    code = "no_link"


class NotInvited(Error):
    """You are not signed in. Run `engram ui` in a terminal and open the link it shows."""

    code, status = "not_invited", 401


class FromOutside(Error):
    """Another website sent you here. Continue only if you meant to open this page."""

    code, status = "from_outside", 403


class ForgedForm(Error):
    """This form was not created by this server. Reload the page and try again."""

    code, status = "forged", 403


class HomeUnwritable(Error):
    """Cannot read or write the files of the Engram home: {reason}."""

    code, status = "unwritten", 507


class PassUnderWay(Error):
    """A pass is already running. Its results appear here when it ends."""

    code, status = "dream_running", 409


class TooManyListeners(Error):
    """{most} pages already receive live updates. Close one of them; this page does not update."""

    code, status = "too_many_listeners", 503


class ToolFailure(Error):
    """Internal error in Engram; see its log. Continue your work without it."""

    code = "internal"


class CallCancelled(Error):
    """The call was cancelled before it finished."""

    code, status = "cancelled", 503
