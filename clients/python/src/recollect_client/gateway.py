"""Helpers for the `openai` and `anthropic` packages: their clients, pointed at the gateway of a Recollect server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .client import DEFAULT_URL

if TYPE_CHECKING:
    import anthropic
    import openai


def gateway_headers(
    *,
    agent: str | None = None,
    user: str | None = None,
    session: str | None = None,
    memory: bool = True,
) -> dict[str, str]:
    """Request headers that say whose memory a request is about, for any client. `memory=False` leaves memory out."""
    headers = {"x-recollect-agent": agent, "x-recollect-user": user, "x-recollect-session": session}
    named = {name: value for name, value in headers.items() if value is not None}
    return named if memory else {**named, "x-recollect-no-memory": "true"}


def openai_client(
    url: str | None = None,
    api_key: str | None = None,
    *,
    agent: str | None = None,
    user: str | None = None,
    session: str | None = None,
    **options: Any,
) -> openai.OpenAI:
    """An `openai.OpenAI` whose requests are given memory by the gateway."""
    import openai

    return openai.OpenAI(**_options(url, api_key, "/v1", agent, user, session, options))


def anthropic_client(
    url: str | None = None,
    api_key: str | None = None,
    *,
    agent: str | None = None,
    user: str | None = None,
    session: str | None = None,
    **options: Any,
) -> anthropic.Anthropic:
    """An `anthropic.Anthropic` whose requests are given memory by the gateway."""
    import anthropic

    return anthropic.Anthropic(**_options(url, api_key, "", agent, user, session, options))


def _options(
    url: str | None,
    api_key: str | None,
    path: str,
    agent: str | None,
    user: str | None,
    session: str | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    address = (url or os.environ.get("RECOLLECT_URL") or DEFAULT_URL).rstrip("/")
    headers = gateway_headers(agent=agent, user=user, session=session)
    return {
        **options,
        "base_url": address + path,
        "api_key": api_key or os.environ.get("RECOLLECT_API_KEY"),
        "default_headers": {**headers, **options.get("default_headers", {})},
    }
