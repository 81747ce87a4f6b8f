"""A LangGraph graph that reads and writes the long-term store of a Recollect server."""

import sys

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from recollect_client import Client
from recollect_client.langgraph import RecollectStore
from typing_extensions import TypedDict


class State(TypedDict):
    message: str
    answer: str


def answer(state: State, *, store: BaseStore) -> dict:
    namespace = ("users", "ada")
    if state["message"].endswith("?"):
        found = store.search(namespace, query=state["message"], limit=1)
        return {"answer": found[0].value["text"] if found else "I do not know."}
    store.put(namespace, state["message"], {"text": state["message"]})
    return {"answer": "Noted."}


builder = StateGraph(State)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")
builder.add_edge("answer", END)
# The address and the key are read from RECOLLECT_URL and RECOLLECT_API_KEY.
graph = builder.compile(store=RecollectStore(Client()))
print(graph.invoke({"message": " ".join(sys.argv[1:]), "answer": ""})["answer"])
