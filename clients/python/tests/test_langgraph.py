"""LangGraph and LangChain with their real packages, against a real server."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import unittest

from recollect_client import Client


def missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


@unittest.skipUnless("RECOLLECT_URL" in os.environ, "RECOLLECT_URL is not set")
@unittest.skipIf(missing("langgraph"), "the package langgraph is not installed")
class Store(unittest.TestCase):
    def setUp(self) -> None:
        from langgraph.store.memory import InMemoryStore

        from recollect_client.langgraph import RecollectStore

        self.client = Client(owner=f"python-{self.id().rsplit('.', 1)[-1]}"[:60])
        self.store = RecollectStore(self.client)
        self.reference = InMemoryStore()

    def put(self, namespace: tuple[str, ...], key: str, value: dict, **options: object) -> None:
        for store in (self.store, self.reference):
            store.put(namespace, key, value, **options)

    def test_puts_gets_and_deletes_as_the_store_of_langgraph(self) -> None:
        self.put(("users", "ada"), "tea", {"text": "Ada likes green tea", "cups": 3})
        self.put(("users", "ada"), "tea", {"text": "Ada likes green tea", "cups": 4})
        self.put(("users", "bob"), "tea", {"text": "Bob likes mint tea"})
        for namespace in (("users", "ada"), ("users", "bob"), ("users",)):
            got, wanted = (each.get(namespace, "tea") for each in (self.store, self.reference))
            self.assertEqual(got and got.value, wanted and wanted.value)
        self.store.delete(("users", "ada"), "tea")
        self.assertIsNone(self.store.get(("users", "ada"), "tea"))
        self.put(("users", "ada"), "tea", {"text": "Ada likes green tea", "cups": 5})
        self.assertEqual(self.store.get(("users", "ada"), "tea").value["cups"], 5)

    def test_filters_and_lists_namespaces_as_the_store_of_langgraph(self) -> None:
        for number in range(5):
            self.put(("a", str(number % 2), "c"), f"k{number}", {"n": number, "even": number % 2 == 0})
        self.put(("b", "x"), "k", {"n": 9})
        for prefix, filter in (
            (("a",), None),
            (("a", "1"), None),
            ((), {"n": {"$gte": 3}}),
            (("a",), {"even": True}),
            (("a",), {"n": {"$gt": 0, "$lt": 4}}),
            (("a",), {"n": {"$ne": 2}}),
        ):
            got, wanted = (
                {(item.namespace, item.key) for item in each.search(prefix, filter=filter)}
                for each in (self.store, self.reference)
            )
            self.assertEqual(got, wanted)
        for query in (
            {},
            {"prefix": ("a",)},
            {"suffix": ("c",)},
            {"prefix": ("a", "*", "c")},
            {"max_depth": 1},
            {"max_depth": 2, "limit": 1, "offset": 1},
        ):
            got, wanted = (sorted(each.list_namespaces(**query)) for each in (self.store, self.reference))
            self.assertEqual(got, wanted)
        with self.assertRaisesRegex(ValueError, "must use one of"):
            self.store.search(("a",), filter={"n": {"$near": 1}})

    def test_searches_in_natural_language_within_a_namespace(self) -> None:
        self.store.put(("users", "ada"), "drink", {"text": "Ada likes green tea"})
        self.store.put(("users", "bob"), "drink", {"text": "Bob likes green tea"})
        self.store.put(("users", "ada"), "secret", {"text": "Ada likes green tea too"}, index=False)
        found = self.store.search(("users", "ada"), query="green tea")
        self.assertEqual([item.key for item in found], ["drink"])
        self.assertGreater(found[0].score, 0)

    def test_works_in_a_graph_and_with_coroutines(self) -> None:
        async def run() -> object:
            await self.store.aput(("users",), "ada", {"text": "Ada likes tea"})
            return await self.store.aget(("users",), "ada")

        self.assertEqual(asyncio.run(run()).value, {"text": "Ada likes tea"})

        from typing import TypedDict

        from langgraph.graph import START, StateGraph
        from langgraph.store.base import BaseStore

        class State(TypedDict):
            answer: str

        def node(state: State, *, store: BaseStore) -> State:
            return {"answer": store.get(("users",), "ada").value["text"]}

        builder = StateGraph(State)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        graph = builder.compile(store=self.store)
        self.assertEqual(graph.invoke({"answer": ""})["answer"], "Ada likes tea")

    def test_items_with_a_time_to_live_expire(self) -> None:
        self.store.put(("users",), "ada", {"text": "Ada is here"}, ttl=60)
        stored = self.client.list(source="langgraph")["rows"][0]
        self.assertIsNotNone(stored.get("expiresAt"))


@unittest.skipUnless("RECOLLECT_URL" in os.environ, "RECOLLECT_URL is not set")
@unittest.skipIf(missing("langchain_core"), "the package langchain-core is not installed")
class Retriever(unittest.TestCase):
    def test_returns_memories_as_documents(self) -> None:
        from recollect_client.langchain import RecollectRetriever

        client = Client(owner="python-retriever")
        client.remember("I prefer green tea over coffee.")
        [document] = RecollectRetriever(client, limit=1).invoke("Which tea do I prefer?")
        self.assertEqual(document.page_content, "I prefer green tea over coffee.")
        self.assertEqual(document.metadata["type"], "memory")
