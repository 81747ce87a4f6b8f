"""Memory for LangGraph: a store. Needs the package `langgraph`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import operator
import time
from datetime import datetime
from typing import Any, Callable, Iterable, Mapping

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from .client import Client
from .types import Memory

SOURCE = "langgraph"
#: A query finds items of all namespaces, which are filtered afterwards.
CANDIDATES = 100

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": lambda actual, wanted: actual is not None and actual > wanted,
    "$gte": lambda actual, wanted: actual is not None and actual >= wanted,
    "$lt": lambda actual, wanted: actual is not None and actual < wanted,
    "$lte": lambda actual, wanted: actual is not None and actual <= wanted,
}


class RecollectStore(BaseStore):
    """Items by namespace and key, filters, and search in natural language.

    The items are those of `RecollectStore` of `recollect/langchain`, so programs in both languages share them. They
    belong to the owner and the user of `client`.
    """

    supports_ttl = True

    def __init__(self, client: Client) -> None:
        self._client = client

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs operations in their order."""
        return [self._perform(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, without holding up the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _perform(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            stored = self._find(op.namespace, op.key)
            return None if stored is None else _to_item(stored)
        if isinstance(op, PutOp):
            return self._put(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        raise TypeError(f"Unknown operation: {type(op).__name__}.")

    def _find(self, namespace: tuple[str, ...], key: str) -> Memory | None:
        rows = self._client.list(source=SOURCE, key=_key_of(namespace, key), limit=1)["rows"]
        return rows[0] if rows else None

    def _put(self, op: PutOp) -> None:
        stored = self._find(op.namespace, op.key)
        if op.value is None:
            if stored is not None:
                self._client.forget(stored["id"])
            return
        value = dict(op.value)
        place = {"namespace": list(op.namespace), "key": op.key, "value": value}
        metadata = {"langgraph": {**place, "isIndexed": op.index is not False}}
        expiry = {} if op.ttl is None else {"expiresAt": int((time.time() + op.ttl * 60) * 1000)}
        made = self._client.remember(
            _render(value, op.index),
            source=SOURCE,
            key=_key_of(op.namespace, op.key),
            metadata=metadata,
            **expiry,
        )
        # A value that reads the same keeps the memory as it is.
        if made["memory"].get("metadata") != metadata:
            self._client.edit(made["memory"]["id"], metadata=metadata)

    def _items(self) -> list[Item]:
        return [_to_item(stored) for stored in self._client.list_all(source=SOURCE)]

    def _search(self, op: SearchOp) -> list[SearchItem]:
        def is_wanted(item: Item) -> bool:
            prefix = item.namespace[: len(op.namespace_prefix)]
            return prefix == tuple(op.namespace_prefix) and _matches(item.value, op.filter)

        end = op.offset + op.limit
        if not op.query or not op.query.strip():
            return [_to_hit(item, None) for item in self._items() if is_wanted(item)][op.offset : end]
        found = self._client.recall(
            op.query, limit=CANDIDATES, include="facts", source=SOURCE
        )["memories"]
        hits = []
        for each in found:
            place = (each["memory"].get("metadata") or {}).get("langgraph")
            if not isinstance(place, dict) or place.get("isIndexed") is False:
                continue
            item = _to_item(each["memory"])
            if is_wanted(item):
                hits.append(_to_hit(item, each["score"]))
        return hits[op.offset : end]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        namespaces = {
            item.namespace[: op.max_depth]
            for item in self._items()
            if all(_matches_path(item.namespace, condition) for condition in conditions)
        }
        return sorted(namespaces)[op.offset : op.offset + op.limit]


def _key_of(namespace: tuple[str, ...], key: str) -> str:
    """As the TypeScript package computes it: keys of memories are shorter than namespaces may be."""
    parts = json.dumps([*namespace, "\u0000", key], ensure_ascii=False, separators=(",", ":"))
    return f"{SOURCE}:{hashlib.sha256(parts.encode('utf-8')).hexdigest()[:KEY_DIGITS]}"


KEY_DIGITS = 40


def _to_item(stored: Memory) -> Item:
    place = stored["metadata"]["langgraph"]
    return Item(
        namespace=tuple(place["namespace"]),
        key=place["key"],
        value=dict(place["value"]),
        created_at=_to_time(stored["createdAt"]),
        updated_at=_to_time(stored["updatedAt"]),
    )


def _to_hit(item: Item, score: float | None) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _to_time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _render(value: Mapping[str, Any], index: Any) -> str:
    """What search reads: the texts of the indexed fields, or of all."""
    read = value if index in (None, False) or "$" in index else [_read_path(value, path) for path in index]
    return "\n".join(_texts(read)) or json.dumps(value)


def _read_path(value: Any, path: str) -> list[Any]:
    """`a.b`, `list[0].a` and `list[*].a`."""
    found = [value]
    for part in path.replace("[", ".").replace("]", "").split("."):
        following: list[Any] = []
        for each in found:
            if isinstance(each, list):
                following += each if part == "*" else each[int(part) :][:1]
            elif isinstance(each, Mapping):
                following += each.values() if part == "*" else [each.get(part)]
        found = following
    return found


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, (bool, int, float)):
        return [str(value)]
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in _texts(each)]
    if not isinstance(value, Mapping):
        return []
    # A bare number or word says nothing without its name.
    return [
        text if isinstance(each, Mapping) or " " in text else f"{name}: {text}"
        for name, each in value.items()
        for text in _texts(each)
    ]


def _matches(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    for name, wanted in (filter or {}).items():
        is_conditions = isinstance(wanted, Mapping) and all(str(key).startswith("$") for key in wanted)
        for comparison, operand in (wanted if is_conditions else {"$eq": wanted}).items():
            if comparison not in COMPARISONS:
                known = ", ".join(COMPARISONS)
                raise ValueError(f'`filter` must use one of {known}; got "{comparison}".')
            if not COMPARISONS[comparison](value.get(name), operand):
                return False
    return True


def _matches_path(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    is_suffix = condition.match_type == "suffix"
    compared = namespace[len(namespace) - len(path) :] if is_suffix else namespace[: len(path)]
    return all(wanted in ("*", part) for wanted, part in zip(path, compared))
