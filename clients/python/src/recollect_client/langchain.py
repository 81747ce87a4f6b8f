"""Memory for LangChain: a retriever. Needs the package `langchain-core`."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from .client import Client


class RecollectRetriever(BaseRetriever):
    """Memories and turns of conversations as documents. It returns nothing when nothing is relevant."""

    client: Any
    """A `recollect_client.Client`."""
    limit: int = 8
    include: str = "both"
    """Memories (`facts`), turns of conversations (`conversations`), or `both`."""

    def __init__(self, client: Client, **fields: Any) -> None:
        super().__init__(client=client, **fields)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        found = self.client.recall(query, limit=self.limit, include=self.include)["memories"]
        return [
            Document(
                id=each["memory"]["id"],
                page_content=each["memory"]["content"],
                metadata={
                    "type": "turn" if each["memory"].get("type") == "turn" else "memory",
                    "score": each["score"],
                    "createdAt": each["memory"]["createdAt"],
                },
            )
            for each in found
        ]
