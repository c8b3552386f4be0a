from __future__ import annotations

import asyncio
import socket
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any, List
from unittest.mock import patch

from switchyard import (
    ApiError,
    AsyncClient,
    Backoff,
    CallCancelled,
    CallOptions,
    Cancellation,
    Client,
    DeadlineError,
    TransportError,
)
from switchyard.errors import read_retry_after

from .support import ADDRESS, KEY, Proxy, plain_client, problem


class CallTests(unittest.TestCase):
    def setUp(self) -> None:
        self.client = plain_client()

    def test_records_are_created_read_changed_and_deleted_with_the_names_of_the_api(self) -> None:
        pool = self.client.pools.create(name="orders", config={"lease": {"duration_s": 7}})
        self.assertEqual((pool["name"], pool["config"]["lease"]["duration_s"]), ("orders", 7))
        changed = self.client.pools.update(pool_id=pool["id"], description="All orders")
        self.assertEqual(changed["description"], "All orders")
        self.assertEqual(self.client.pools.get(pool_id=pool["id"])["name"], "orders")
        self.assertEqual(self.client.pools.delete(pool_id=pool["id"])["status"], "STATUS_ARCHIVED")

    def test_a_list_is_an_iterator_of_items_and_of_pages_and_reads_no_further_than_the_loop(self) -> None:
        for number in range(7):
            self.client.topics.create(key=f"news.{number}", name="News")
        proxy = Proxy()
        counted = proxy.client()
        self.assertEqual(len({topic["key"] for topic in counted.topics.list(limit=3)}), 7)
        self.assertEqual(len(proxy.sent), 3)
        self.assertEqual([len(page.items) for page in counted.topics.list(limit=4).pages()], [4, 3])
        proxy.sent.clear()
        self.assertEqual(len(counted.topics.list(limit=2).take(3)), 3)
        self.assertEqual(len(proxy.sent), 2)
        page = counted.topics.list(limit=2, offset=6).page()
        self.assertEqual((len(page.items), page.total, page.total_capped, page.next_cursor), (1, 7, False, ""))
        # A list with page numbers instead of cursors.
        self.assertEqual(self.client.marketplace.list_installations(per_page=5).take(10), [])

    def test_times_and_lists_of_a_query_arrive(self) -> None:
        self.client.events.publish(type="order.paid", subject="query", data={"cents": 4200})
        now = datetime.now(timezone.utc)
        found = self.client.events.list(
            types=["order.paid", "order.sent"], subject="query", since=now - timedelta(minutes=1)
        ).take(5)
        self.assertEqual([event["data"] for event in found], [{"cents": 4200}])
        self.assertEqual(self.client.events.list(types=["order.paid"], since=now + timedelta(minutes=1)).take(5), [])
        with self.assertRaisesRegex(ValueError, "has no time zone"):
            self.client.events.list(since=datetime(2026, 1, 1)).take(1)

    def test_an_error_has_the_code_of_the_catalogue_and_the_invalid_fields(self) -> None:
        with self.assertRaises(ApiError) as missing:
            self.client.pools.get(pool_id="01JZZZZZZZZZZZZZZZZZZZZZZZ")
        error = missing.exception
        self.assertEqual((error.code, error.status, error.retryable), ("NOT_FOUND", 404, False))
        self.assertNotEqual(error.request_id, "")
        with self.assertRaises(ApiError) as invalid:
            self.client.pools.create(name="")
        self.assertEqual(invalid.exception.violations[0]["field"], "name")
        with self.assertRaisesRegex(ValueError, "pool_id is missing"):
            self.client.pools.get(pool_id="")

    def test_a_response_that_is_lost_is_fetched_again_under_the_same_key_and_the_effect_happens_once(self) -> None:
        def lose(forward: Any, _: Any) -> Any:
            answer = forward()
            return None if len(proxy.sent) < 3 else answer

        proxy = Proxy(lose)
        replayed: List[Any] = []
        event = proxy.client().events.publish(
            type="order.lost",
            subject="once",
            call=CallOptions(
                on_response=lambda response: replayed.append(
                    (response.attempt, response.headers["idempotency-replayed"])
                )
            ),
        )
        keys = {request.key for request in proxy.sent}
        self.assertEqual((len(proxy.sent), len(keys)), (3, 1))
        self.assertRegex(keys.pop() or "", "^[0-9a-f]{32}$")
        self.assertEqual(replayed, [(3, "true")])
        stored = self.client.events.list(types=["order.lost"]).take(5)
        self.assertEqual([each["id"] for each in stored], [event["id"]])

    def test_only_a_failure_that_the_service_calls_retryable_is_repeated_and_not_before_the_time_that_it_asks_for(
        self,
    ) -> None:
        times: List[float] = []

        def busy(forward: Any, _: Any) -> Any:
            times.append(time.monotonic())
            return problem("UNAVAILABLE", True, ("retry-after", "1")) if len(times) == 1 else forward()

        Proxy(busy).client().pools.list().page()
        self.assertGreaterEqual(times[1] - times[0], 0.99)
        refused = Proxy(lambda _, __: problem("FAILED_PRECONDITION", False))
        with self.assertRaises(ApiError):
            refused.client().pools.list().page()
        self.assertEqual(len(refused.sent), 1)

    def test_a_wait_that_the_service_asks_for_is_never_shortened_and_every_other_wait_grows_and_is_random(self) -> None:
        backoff = Backoff(0.1, 1.0)

        def span(failures: int, retry_after: Any = None) -> List[float]:
            waits = []
            for value in (0.0, 1.0):
                with patch("random.random", return_value=value):
                    waits.append(round(backoff.delay(failures, retry_after), 6))
            return waits

        self.assertEqual([span(1), span(2), span(9), span(5000)], [[0.05, 0.1], [0.1, 0.2], [0.5, 1.0], [0.5, 1.0]])
        self.assertEqual(span(1, 2.0), [2.0, 2.1])
        with patch("time.time", return_value=datetime(2026, 3, 1, 12, tzinfo=timezone.utc).timestamp()):
            texts = ["2", "0.5", "Sun, 01 Mar 2026 12:00:03 GMT", "Sun, 01 Mar 2026 11:00:00 GMT", "soon", None]
            self.assertEqual([read_retry_after(text) for text in texts], [2, 0.5, 3, 0, None, None])

    def test_an_address_that_cannot_work_is_refused_with_a_reason(self) -> None:
        with self.assertRaisesRegex(ValueError, "must be an http or https URL .*, not localhost:8080$"):
            Client("localhost:8080")
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        with self.assertRaisesRegex(TransportError, "the connection failed: .*refused"):
            Client(f"http://127.0.0.1:{port}", max_retries=0).pools.get(pool_id="any")

    def test_retries_stop_at_their_number_and_at_the_deadline(self) -> None:
        lost = Proxy(lambda _, __: None)
        with self.assertRaises(TransportError):
            lost.client().pools.list(call=CallOptions(max_retries=4)).page()
        self.assertEqual(len(lost.sent), 5)
        # The wait would end after the deadline, so the error is reported at once.
        patient = Proxy(lambda _, __: (503, [("retry-after", "3600")], b""))
        with self.assertRaises(TransportError) as refused:
            patient.client().pools.list().page()
        self.assertEqual(refused.exception.status, 503)
        silence = threading.Event()
        silent = Proxy(lambda _, __: silence.wait(30) and None)
        with self.assertRaises(DeadlineError):
            silent.client().pools.list(call=CallOptions(timeout=0.1)).page()
        silence.set()

    def test_another_thread_cancels_a_call_that_waits_for_its_response(self) -> None:
        silence = threading.Event()
        arrived = threading.Event()

        def hold(_: Any, __: Any) -> None:
            arrived.set()
            silence.wait(30)

        stop = Cancellation()
        threading.Thread(target=lambda: (arrived.wait(30), stop.cancel())).start()
        with self.assertRaises(CallCancelled):
            Proxy(hold).client().pools.create(name="never", call=CallOptions(cancellation=stop))
        with self.assertRaises(CallCancelled):
            self.client.pools.create(name="never", call=CallOptions(cancellation=stop))
        silence.set()

    def test_a_connection_that_was_closed_while_idle_costs_no_attempt(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))

        def answer_once_per_connection() -> None:
            while True:
                connection, _ = listener.accept()
                connection.recv(65536)
                body = b'{"data":{"name":"orders"}}'
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
                connection.close()

        threading.Thread(target=answer_once_per_connection, daemon=True).start()
        client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", max_retries=0)
        for _ in range(5):
            self.assertEqual(client.pools.get(pool_id="any")["name"], "orders")

    def test_raw_bytes_are_received_as_they_are(self) -> None:
        with self.client.workflow_definitions.get_schema() as response:
            self.assertIn("json", response.headers["content-type"])
            self.assertEqual(response.read()[:1], b"{")


class AsyncCallTests(unittest.IsolatedAsyncioTestCase):
    async def test_calls_lists_and_errors_are_those_of_the_plain_client(self) -> None:
        async with AsyncClient(ADDRESS, api_key=KEY) as client:
            pools = await asyncio.gather(*(client.pools.create(name=f"async {number}") for number in range(20)))
            ids = {pool["id"] for pool in pools}
            self.assertEqual(len(ids), 20)
            listed = [pool["id"] async for pool in client.pools.list(limit=7)]
            self.assertLessEqual(ids, set(listed))
            self.assertEqual(len(await client.pools.list(limit=2).take(5)), 5)
            with self.assertRaises(ApiError):
                await client.pools.get(pool_id="unknown")
            response = await client.workflow_definitions.get_schema()
            self.assertEqual(response.read()[:1], b"{")

    async def test_a_task_that_is_cancelled_ends_its_call_and_frees_its_thread(self) -> None:
        silence = threading.Event()
        holding = Proxy(lambda _, __: silence.wait(30) and None)
        async with holding.async_client(threads=1) as client:
            waiting = asyncio.ensure_future(client.pools.get(pool_id="any"))
            while not holding.sent:
                await asyncio.sleep(0.01)
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            # The only thread is free again.
            with self.assertRaises(DeadlineError):
                await client.pools.get(pool_id="other", call=CallOptions(timeout=0.1))
            self.assertEqual(len(holding.sent), 2)
        silence.set()
