"""The synchronous client. Methods have the names of the TypeScript library."""

from __future__ import annotations

import json
import os
import ssl
import urllib.parse
from datetime import datetime
from typing import Any, Iterable, Iterator, Mapping, Sequence, Union

from ._transport import EVENTS_TYPE, LINES_TYPE, Transport, read_events, read_lines
from .errors import RecollectError
from .types import Change, Memory, MemoryPage, PromptContext, RecallResult, RememberResult

DEFAULT_URL = "http://127.0.0.1:20128"
Time = Union[datetime, int]


class Client:
    """A client of a Recollect server.

    `url` and `api_key` default to the environment variables `RECOLLECT_URL` and `RECOLLECT_API_KEY`. Every method takes
    `owner`, `user` and `session`; what is left out is decided by the key, or by the defaults given here.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._transport = Transport(
            url or os.environ.get("RECOLLECT_URL") or DEFAULT_URL,
            api_key or os.environ.get("RECOLLECT_API_KEY"),
            headers or {},
            timeout,
            retries,
            ssl_context,
        )
        self._scope = {"owner": owner, "user": user, "sessionId": session}

    @property
    def url(self) -> str:
        return self._transport.url

    @property
    def api_key(self) -> str | None:
        return self._transport.api_key

    def remember(
        self,
        content: str,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
        **fields: Any,
    ) -> RememberResult:
        """Stores a statement. A statement that contradicts an earlier one supersedes it.

        `fields` are those of the REST API: `category`, `importance`, `key`, `pinned`, `metadata`, …
        """
        body = {**self._fields(owner, user, session), "content": content, **fields}
        return self._transport.send_json("POST", "/api/memory", body=body)

    def learn(
        self,
        text: str,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
    ) -> Any:
        """Stores what a person says about themselves in a text, by patterns and without a model."""
        body = {**self._fields(owner, user, session), "text": text}
        return self._transport.send_json("POST", "/api/memory/learn", body=body)

    def recall(
        self,
        text: str,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
        limit: int | None = None,
        tokens_max: int | None = None,
        include: str | None = None,
        strategy: str | None = None,
        as_of: Time | None = None,
        **filters: Any,
    ) -> RecallResult:
        """Memories and conversation turns that are relevant to a text, best first. May find nothing.

        `include` is `facts`, `conversations` or `both`.
        """
        body = {
            **self._fields(owner, user, session),
            "query": text,
            "detail": "full",
            **_without_none(
                limit=limit,
                maxTokens=tokens_max,
                include=include,
                strategy=strategy,
                asOf=_to_ms(as_of),
                **filters,
            ),
        }
        answer = self._transport.send_json("POST", "/api/memory/search", body=body, repeatable=True)
        return {
            "memories": [
                {
                    "memory": hit.get("memory") or _to_turn(hit),
                    "score": hit["score"],
                    "coverage": hit.get("coverage") or 0,
                    "tokens": hit["tokens"],
                }
                for hit in answer["results"]
            ],
            "strategy": answer["strategy"],
            "abstained": answer["abstained"],
            "tokens": answer["totalTokens"],
            "retrievers": answer["retrievers"],
        }

    def get(
        self,
        id: str,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
    ) -> Memory | None:
        """A memory by its id; None when there is none in the scope."""
        query = self._fields(owner, user, session)
        try:
            return self._transport.send_json("GET", _memory_path(id), query=query)["memory"]
        except RecollectError as error:
            if error.code == "not_found":
                return None
            raise

    def list(
        self,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
        contains: str | None = None,
        order: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        **filters: Any,
    ) -> MemoryPage:
        """A page of memories, active ones unless `status` says otherwise; `after` is `next` of the page before."""
        query = {
            **self._fields(owner, user, session),
            **_without_none(q=contains, order=order, limit=limit, after=after, **filters),
        }
        page = self._transport.send_json("GET", "/api/memory", query=query)
        return {"rows": page["data"], "next": page["next"], "total": page["total"]}

    def list_all(self, *, limit: int = 200, **query: Any) -> Iterator[Memory]:
        """All memories, page by page."""
        after: str | None = None
        while True:
            page = self.list(limit=limit, after=after, **query)
            yield from page["rows"]
            after = page["next"]
            if after is None:
                return

    def edit(
        self,
        id: str,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
        version: int | None = None,
        **fields: Any,
    ) -> Memory:
        """Changes the named fields; with `version`, only if the memory still has that version."""
        body = {**self._fields(owner, user, session), **_without_none(version=version), **fields}
        return self._transport.send_json("PUT", _memory_path(id), body=body)["memory"]

    def forget(
        self,
        id: str,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
    ) -> Memory:
        """Moves a memory to the trash. It can be restored."""
        query = self._fields(owner, user, session)
        return self._transport.send_json("DELETE", _memory_path(id), query=query)["memory"]

    def restore(
        self,
        id: str,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
        version: int | None = None,
    ) -> Memory:
        """Restores a forgotten or disabled memory; with `version`, the text of an earlier version."""
        body = {**self._fields(owner, user, session), **_without_none(version=version)}
        return self._transport.send_json("POST", f"{_memory_path(id)}/restore", body=body)["memory"]

    def undo(self, change: str, *, owner: str | None = None) -> Any:
        """Undoes a change: `memory["change"]` of what a write returned."""
        body = {**self._fields(owner, None, None), "change": change}
        return self._transport.send_json("POST", "/api/memory/undo", body=body)

    def recall_for_prompt(
        self,
        prompt: str,
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
    ) -> PromptContext:
        """The context block to prepend to a prompt; empty when nothing is relevant."""
        body = {**self._fields(owner, user, session), "prompt": prompt}
        return self._transport.send_json("POST", "/api/hooks/recall", body=body, repeatable=True)

    def capture_messages(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        owner: str | None = None,
        user: str | None = None,
        session: str | None = None,
    ) -> Any:
        """Stores what user messages ask to remember, where `hooks.captureEnabled` is on."""
        body = {**self._fields(owner, user, session), "messages": [dict(each) for each in messages]}
        return self._transport.send_json("POST", "/api/hooks/capture", body=body)

    def ingest(
        self,
        turns: Sequence[Mapping[str, Any]],
        *,
        conversation: str,
        owner: str | None = None,
        user: str | None = None,
        **fields: Any,
    ) -> Any:
        """Records a conversation: `turns` are `{"user": …, "assistant": …}`. Its turns are recallable at once."""
        scope = self._fields(owner, user, None)
        body = {
            **_without_none(agent_id=scope.get("owner"), user=scope.get("user")),
            "conversation_id": conversation,
            "turns": [dict(each) for each in turns],
            **fields,
        }
        return self._transport.send_json("POST", "/memory/ingest", body=body)

    def status(self) -> Any:
        """The store, the indexes and background work."""
        return self._transport.send_json("GET", "/api/status")

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Any:
        """Any request of the REST API, for operations without a method here."""
        return self._transport.send_json(method, path, query=query, body=body)

    def export(self, *, owner: str | None = None) -> Iterator[str]:
        """Lines of an export, as they come."""
        response = self._transport.open(
            "GET", "/api/memory/export", query=self._fields(owner, None, None), accept=LINES_TYPE
        )
        return read_lines(response)

    def import_(self, lines: Iterable[str], *, owner: str | None = None) -> Any:
        """Imports lines of an export. The connection stays open while `lines` produces them."""
        with self._transport.open(
            "POST",
            "/api/memory/import",
            query=self._fields(owner, None, None),
            data=(f"{line}\n".encode("utf-8") for line in lines),
            headers={"content-type": LINES_TYPE},
        ) as response:
            return json.loads(response.read())

    def changes(self) -> Iterator[Change]:
        """Which kinds of data change, as they change. Ends when the server closes the stream."""
        response = self._transport.open("GET", "/api/events", accept=EVENTS_TYPE)
        return (json.loads(data) for data in read_events(response, "changed"))

    def _fields(self, owner: str | None, user: str | None, session: str | None) -> dict[str, Any]:
        given = _without_none(owner=owner, user=user, sessionId=session)
        return {**_without_none(**self._scope), **given}


def _memory_path(id: str) -> str:
    if not id:
        raise RecollectError("invalid_input", "`id` must not be empty.")
    return f"/api/memory/{urllib.parse.quote(id, safe='')}"


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _to_ms(time: Time | None) -> int | None:
    return int(time.timestamp() * 1000) if isinstance(time, datetime) else time


def _to_turn(hit: Mapping[str, Any]) -> Memory:
    return {
        "id": hit["id"],
        "type": "turn",
        "content": hit.get("content") or hit["snippet"],
        "owner": hit["owner"],
        "role": hit.get("role"),
        "sessionId": hit.get("sessionId") or "",
        "createdAt": hit.get("createdAt") or "",
    }
