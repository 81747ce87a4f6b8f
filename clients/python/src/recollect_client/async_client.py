"""The asynchronous client: the same methods as coroutines. Requests run in the default thread pool."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence, TypeVar

from .client import Client
from .types import Change, Memory, MemoryPage, PromptContext, RecallResult, RememberResult

Item = TypeVar("Item")
_END: Any = object()


class AsyncClient:
    """Takes the arguments of `Client`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.sync = Client(*args, **options)

    async def remember(self, content: str, **fields: Any) -> RememberResult:
        return await asyncio.to_thread(self.sync.remember, content, **fields)

    async def learn(self, text: str, **scope: Any) -> Any:
        return await asyncio.to_thread(self.sync.learn, text, **scope)

    async def recall(self, text: str, **query: Any) -> RecallResult:
        return await asyncio.to_thread(self.sync.recall, text, **query)

    async def get(self, id: str, **scope: Any) -> Memory | None:
        return await asyncio.to_thread(self.sync.get, id, **scope)

    async def list(self, **query: Any) -> MemoryPage:
        return await asyncio.to_thread(self.sync.list, **query)

    def list_all(self, **query: Any) -> AsyncIterator[Memory]:
        return _in_thread(lambda: self.sync.list_all(**query))

    async def edit(self, id: str, **fields: Any) -> Memory:
        return await asyncio.to_thread(self.sync.edit, id, **fields)

    async def forget(self, id: str, **scope: Any) -> Memory:
        return await asyncio.to_thread(self.sync.forget, id, **scope)

    async def restore(self, id: str, **options: Any) -> Memory:
        return await asyncio.to_thread(self.sync.restore, id, **options)

    async def undo(self, change: str, **scope: Any) -> Any:
        return await asyncio.to_thread(self.sync.undo, change, **scope)

    async def recall_for_prompt(self, prompt: str, **scope: Any) -> PromptContext:
        return await asyncio.to_thread(self.sync.recall_for_prompt, prompt, **scope)

    async def capture_messages(self, messages: Sequence[Mapping[str, str]], **scope: Any) -> Any:
        return await asyncio.to_thread(self.sync.capture_messages, messages, **scope)

    async def ingest(self, turns: Sequence[Mapping[str, Any]], **fields: Any) -> Any:
        return await asyncio.to_thread(self.sync.ingest, turns, **fields)

    async def status(self) -> Any:
        return await asyncio.to_thread(self.sync.status)

    async def request(self, method: str, path: str, **options: Any) -> Any:
        return await asyncio.to_thread(self.sync.request, method, path, **options)

    def export(self, **scope: Any) -> AsyncIterator[str]:
        return _in_thread(lambda: self.sync.export(**scope))

    async def import_(self, lines: Iterable[str], **scope: Any) -> Any:
        return await asyncio.to_thread(self.sync.import_, lines, **scope)

    def changes(self) -> AsyncIterator[Change]:
        return _in_thread(self.sync.changes)


async def _in_thread(open_iterator: Callable[[], Iterator[Item]]) -> AsyncIterator[Item]:
    """Reads a blocking iterator in threads, one item at a time."""
    iterator = await asyncio.to_thread(open_iterator)
    try:
        while True:
            item = await asyncio.to_thread(next, iterator, _END)
            if item is _END:
                return
            yield item
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
