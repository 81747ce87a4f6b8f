"""Types of answers. The server may send more fields than are named here."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict


class Memory(TypedDict, total=False):
    """A memory, or a conversation turn among recalled memories (`type` is then `turn`)."""

    id: str
    owner: str
    user: Optional[str]
    sessionId: Optional[str]
    content: str
    type: str
    category: str
    importance: int
    pinned: bool
    status: str
    trust: str
    key: Optional[str]
    metadata: Dict[str, Any]
    version: int
    change: str
    createdAt: str
    updatedAt: str
    role: Optional[str]


class RememberResult(TypedDict, total=False):
    """`outcome` is `create`, `update`, `duplicate`, `supersede` or `conflict`; `other` is the memory that was compared."""

    id: str
    outcome: str
    memory: Memory
    other: Optional[Memory]
    reason: Optional[str]


class RecalledMemory(TypedDict):
    memory: Memory
    score: float
    coverage: float
    tokens: int


class RecallResult(TypedDict):
    """`abstained`: there were candidates, and none was relevant."""

    memories: List[RecalledMemory]
    strategy: str
    abstained: bool
    tokens: int
    retrievers: Dict[str, Any]


class MemoryPage(TypedDict):
    rows: List[Memory]
    next: Optional[str]
    total: int


class PromptContext(TypedDict, total=False):
    """`block` is empty when nothing is relevant."""

    block: str
    tokens: int


class Change(TypedDict):
    kinds: List[str]
