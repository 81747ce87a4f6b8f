"""Errors of the client."""

from __future__ import annotations

from typing import Any, Mapping, Sequence


class RecollectError(Exception):
    """A request that failed. `code` is stable, for example `not_found`, `unauthenticated` or `unreachable`."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        details: Sequence[Mapping[str, Any]] = (),
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.retryable = retryable
        self.details = list(details)
        self.request_id = request_id

    def __repr__(self) -> str:
        return f"RecollectError(code={self.code!r}, message={self.message!r}, status={self.status!r})"
