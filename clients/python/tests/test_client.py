"""The client against a real server, whose address and key are in the environment."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

from recollect_client import AsyncClient, Client, RecollectError
from recollect_client.gateway import anthropic_client, gateway_headers, openai_client

HAS_SERVER = "RECOLLECT_URL" in os.environ


def missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


@unittest.skipUnless(HAS_SERVER, "RECOLLECT_URL is not set")
class AgainstServer(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(user=self.id())

    def test_remembers_recalls_edits_and_forgets(self) -> None:
        made = self.client.remember("I prefer tea over coffee.", category="preference")
        self.assertEqual(made["outcome"], "create")
        id = made["id"]
        found = self.client.recall("tea", limit=3)
        self.assertEqual([hit["memory"]["id"] for hit in found["memories"]], [id])
        self.assertEqual(self.client.edit(id, importance=9, version=1)["importance"], 9)
        with self.assertRaises(RecollectError) as raised:
            self.client.edit(id, importance=1, version=1)
        self.assertEqual(raised.exception.code, "conflict")
        self.assertEqual(self.client.forget(id)["status"], "forgotten")
        self.assertEqual(self.client.list()["rows"], [])
        self.assertEqual(self.client.restore(id)["status"], "active")
        self.assertIsNone(self.client.get("mem_none"))

    def test_undoes_a_supersede(self) -> None:
        first = self.client.remember("I live in Berlin.")
        second = self.client.remember("I live in Munich now.")
        self.assertEqual(second["outcome"], "supersede")
        self.client.undo(second["memory"]["change"])
        self.assertEqual(self.client.get(first["id"])["status"], "active")

    def test_ingests_a_conversation_that_is_recalled_at_once(self) -> None:
        self.client.ingest(
            [{"user": "We repainted the kitchen in sage green.", "assistant": "Lovely!"}],
            conversation="monday",
        )
        found = self.client.recall("kitchen", include="conversations")
        self.assertIn("sage green", found["memories"][0]["memory"]["content"])
        self.assertEqual(found["memories"][0]["memory"]["type"], "turn")
        self.assertIn("sage green", self.client.recall_for_prompt("How is the kitchen painted?")["block"])

    def test_lists_page_by_page(self) -> None:
        for number in range(7):
            self.client.remember(f"Lighthouse number {number} has {number + 3} windows.")
        contents = [memory["content"] for memory in self.client.list_all(limit=3)]
        self.assertEqual(len(set(contents)), 7)

    def test_exports_and_imports(self) -> None:
        owner = f"export-{self.id()}"
        self.client.remember("I keep bees — 蜂", owner=owner)
        lines = list(self.client.export(owner=owner))
        self.assertTrue(any("蜂" in line for line in lines))
        report = Client().import_(iter(lines), owner=f"{owner}-copy")
        self.assertEqual(report["failed"], 0)
        copied = Client(user=self.id(), owner=f"{owner}-copy").list()
        self.assertEqual([row["content"] for row in copied["rows"]], ["I keep bees — 蜂"])

    def test_errors_name_the_field(self) -> None:
        with self.assertRaises(RecollectError) as raised:
            self.client.remember("")
        self.assertEqual(raised.exception.status, 400)
        with self.assertRaises(RecollectError) as raised:
            Client(api_key="rc_wrong").status()
        self.assertEqual(raised.exception.code, "unauthenticated")

    def test_the_async_client_does_the_same(self) -> None:
        async def run() -> None:
            client = AsyncClient(user=self.id())
            await client.remember("I prefer jasmine tea.")
            found, status = await asyncio.gather(client.recall("tea"), client.status())
            self.assertEqual(len(found["memories"]), 1)
            self.assertIn("version", status)
            self.assertEqual(len([memory async for memory in client.list_all()]), 1)

        asyncio.run(run())

    @unittest.skipIf(missing("openai"), "the openai package is not installed")
    def test_an_openai_client_gets_memory(self) -> None:
        said = openai_client(user=self.id(), session="monday")
        said.chat.completions.create(
            model="demo/echo", messages=[{"role": "user", "content": "My boat is called Marigold."}]
        )
        self.client.recall("Marigold", include="conversations")
        asked = openai_client(user=self.id(), session="tuesday")
        answer = asked.chat.completions.create(
            model="demo/echo", messages=[{"role": "user", "content": "What is my boat called?"}]
        )
        self.assertIn("Marigold", answer.choices[0].message.content or "")

    @unittest.skipIf(missing("anthropic"), "the anthropic package is not installed")
    def test_an_anthropic_client_gets_memory(self) -> None:
        self.client.remember("My boat is called Marigold.")
        answer = anthropic_client(user=self.id()).messages.create(
            model="demo/echo",
            max_tokens=500,
            messages=[{"role": "user", "content": "What is my boat called?"}],
        )
        self.assertIn("Marigold", answer.content[0].text)


class Faulty(BaseHTTPRequestHandler):
    answers: list[tuple[int, str]] = []
    seen: list[str] = []

    def do_GET(self) -> None:
        Faulty.seen.append(self.headers.get("authorization", ""))
        status, body = Faulty.answers.pop(0)
        self.send_response(status)
        if status == 302:
            self.send_header("location", "http://127.0.0.1:1/")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


BUSY = '{"error": {"code": "busy", "message": "Locked.", "details": [], "retryable": true}}'


class AgainstFaults(unittest.TestCase):
    def setUp(self) -> None:
        self.server = HTTPServer(("127.0.0.1", 0), Faulty)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.client = Client(f"http://127.0.0.1:{self.server.server_port}", "rc_secret")
        Faulty.seen = []

    def test_repeats_a_read_that_failed_for_a_passing_reason(self) -> None:
        Faulty.answers = [(503, BUSY), (200, '{"version": "1"}')]
        self.assertEqual(self.client.status(), {"version": "1"})

    def test_never_repeats_a_write(self) -> None:
        Faulty.answers = [(503, BUSY), (200, "{}")]
        with self.assertRaises(RecollectError) as raised:
            self.client.remember("I prefer tea.")
        self.assertEqual(raised.exception.code, "busy")
        self.assertEqual(len(Faulty.seen), 1)

    def test_follows_no_redirect_with_its_key(self) -> None:
        Faulty.answers = [(302, "")]
        with self.assertRaises(RecollectError) as raised:
            self.client.status()
        self.assertEqual(raised.exception.status, 302)

    def test_an_answer_that_is_no_json_is_an_error_with_its_status(self) -> None:
        Faulty.answers = [(400, "<html>")]
        with self.assertRaises(RecollectError) as raised:
            self.client.status()
        self.assertEqual(raised.exception.status, 400)

    def test_a_server_that_is_gone(self) -> None:
        with self.assertRaises(RecollectError) as raised:
            Client("http://127.0.0.1:1", retries=0).status()
        self.assertEqual(raised.exception.code, "unreachable")

    def test_an_address_of_another_kind(self) -> None:
        with self.assertRaisesRegex(RecollectError, "`url` must be an http or https address"):
            Client("ftp://example.org")


class Headers(unittest.TestCase):
    def test_name_whose_memory(self) -> None:
        self.assertEqual(
            gateway_headers(agent="shop", user="ada", memory=False),
            {
                "x-recollect-agent": "shop",
                "x-recollect-user": "ada",
                "x-recollect-no-memory": "true",
            },
        )


if __name__ == "__main__":
    unittest.main()
