"""HTTP over the standard library: retries, errors, streams."""

from __future__ import annotations

import http.client
import json
import random
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Iterable, Iterator, Mapping

from .errors import RecollectError

JSON_TYPE = "application/json"
LINES_TYPE = "application/x-ndjson"
EVENTS_TYPE = "text/event-stream"

_RETRY_SECONDS = 0.25
_RETRY_SECONDS_MAX = 10.0
_PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_ERROR_BYTES_MAX = 1_000_000


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key to another address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    def __init__(
        self,
        url: str,
        api_key: str | None,
        headers: Mapping[str, str],
        timeout: float,
        retries: int,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise RecollectError("invalid_input", f"`url` must be an http or https address; got {url!r}.")
        self.url = url.rstrip("/")
        self.api_key = api_key
        self.headers = dict(headers)
        self.timeout = timeout
        self.retries = retries
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if ssl_context is not None:
            handlers.append(urllib.request.HTTPSHandler(context=ssl_context))
        self._opener = urllib.request.build_opener(*handlers)

    def send_json(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
    ) -> Any:
        data = None if body is None else json.dumps(body).encode("utf-8")
        with self.open(
            method,
            path,
            query=query,
            data=data,
            headers={"content-type": JSON_TYPE, **(headers or {})} if data is not None else headers,
            repeatable=repeatable,
        ) as response:
            text = response.read()
        return json.loads(text) if text else None

    def open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        data: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: str = JSON_TYPE,
        repeatable: bool | None = None,
    ) -> http.client.HTTPResponse:
        """Opens a response. Only requests that may run twice are repeated, after failures that pass."""
        is_repeatable = method == "GET" if repeatable is None else repeatable
        attempt = 0
        while True:
            try:
                return self._open_once(method, path, query, data, headers, accept)
            except RecollectError as error:
                is_last = attempt >= self.retries or not is_repeatable
                if is_last or not error.retryable:
                    raise
                time.sleep(_pause(attempt, error))
                attempt += 1

    def _open_once(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        data: bytes | Iterable[bytes] | None,
        headers: Mapping[str, str] | None,
        accept: str,
    ) -> http.client.HTTPResponse:
        request = urllib.request.Request(
            self.url + path + _to_query(query),
            data=data,
            method=method,
            headers={"accept": accept, **self.headers, **(headers or {})},
        )
        if self.api_key is not None:
            request.add_unredirected_header("authorization", f"Bearer {self.api_key}")
        try:
            response: http.client.HTTPResponse = self._opener.open(request, timeout=self.timeout)
            return response
        except urllib.error.HTTPError as error:
            raise _to_error(error) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            reason = getattr(error, "reason", error)
            raise RecollectError(
                "unreachable",
                f"{self.url} cannot be reached: {reason}.",
                retryable=True,
            ) from error


def read_lines(response: http.client.HTTPResponse) -> Iterator[str]:
    with response:
        for line in response:
            text = line.decode("utf-8").rstrip("\r\n")
            if text:
                yield text


def read_events(response: http.client.HTTPResponse, name: str) -> Iterator[str]:
    """The data of server-sent events with a name."""
    event, data = "message", []  # type: tuple[str, list[str]]
    with response:
        for line in response:
            text = line.decode("utf-8").rstrip("\r\n")
            if text == "":
                if event == name and data:
                    yield "\n".join(data)
                event, data = "message", []
            elif text.startswith("event:"):
                event = text[6:].strip()
            elif text.startswith("data:"):
                data.append(text[5:].lstrip())


def _to_query(query: Mapping[str, Any] | None) -> str:
    pairs = []
    for name, value in (query or {}).items():
        if value is None:
            continue
        for each in value if isinstance(value, (list, tuple)) else [value]:
            text = ("true" if each else "false") if isinstance(each, bool) else str(each)
            pairs.append((name, text))
    return f"?{urllib.parse.urlencode(pairs)}" if pairs else ""


def _to_error(error: urllib.error.HTTPError) -> RecollectError:
    with error:
        try:
            body = json.loads(error.read(_ERROR_BYTES_MAX))
        except (ValueError, OSError):
            body = None
    fields = body.get("error") if isinstance(body, dict) else None
    fields = fields if isinstance(fields, dict) else {}
    failure = RecollectError(
        str(fields.get("code", "failed")),
        str(fields.get("message", f"The server answered with status {error.code}.")),
        status=error.code,
        retryable=bool(fields.get("retryable", error.code in _PASSING_STATUSES)),
        details=fields.get("details") or (),
        request_id=error.headers.get("x-request-id"),
    )
    retry_after = error.headers.get("retry-after")
    if retry_after is not None and retry_after.isdigit():
        failure.retry_after = float(retry_after)  # type: ignore[attr-defined]
    return failure


def _pause(attempt: int, error: RecollectError) -> float:
    """Exponential backoff with jitter, and at least as long as the server asks for."""
    backoff = _RETRY_SECONDS * 2**attempt * (0.5 + random.random() / 2)
    asked: float = getattr(error, "retry_after", 0.0)
    return min(_RETRY_SECONDS_MAX, max(backoff, asked))
