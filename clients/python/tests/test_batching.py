from __future__ import annotations

import asyncio
import json
import threading
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Callable, List

from switchyard import ApiError, BacklogError, CallOptions, DeadlineError, TransportError
from switchyard.batching import Batcher
from switchyard.generated.services import routing

from .support import Proxy, items_of, new_pool, new_stream, plain_client, until


def all_results(calls: List[Callable[[], Any]]) -> List[Any]:
    """Makes calls at the same time. Returns each result or error."""
    together = threading.Barrier(len(calls))

    def make(call: Callable[[], Any]) -> Any:
        together.wait()
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(make, calls))


class BatchingTests(unittest.TestCase):
    def setUp(self) -> None:
        self.plain = plain_client()
        self.pool_id = new_pool(self.plain)

    def keys(self) -> List[str]:
        return sorted(item["key"] for item in items_of(self.plain, self.pool_id))

    def route_calls(self, client: Any, keys: List[str], **fields: Any) -> List[Callable[[], Any]]:
        def call(key: str) -> Callable[[], Any]:
            return lambda: client.routing.route(pool_id=self.pool_id, type="job", key=key, **fields)

        return [call(key) for key in keys]

    def test_concurrent_calls_are_few_requests_and_each_gets_the_result_of_its_own_item(self) -> None:
        proxy = Proxy()
        keys = [str(number) for number in range(200)]
        decisions = all_results(self.route_calls(proxy.client(batching=True), keys))
        self.assertEqual([decision["key"] for decision in decisions], keys)
        self.assertLessEqual(len(proxy.sent), 20)
        self.assertEqual(self.keys(), sorted(keys))

    def test_a_call_without_company_is_the_plain_call_and_calls_made_while_it_is_in_flight_are_the_next_batch(self) -> None:
        opened = threading.Event()
        proxy = Proxy(lambda forward, _: opened.wait(30) and forward())
        client = proxy.client(batching=True)
        calls = self.route_calls(client, ["a", "b", "c", "d"])
        with ThreadPoolExecutor(4) as threads:
            results = [threads.submit(calls[0])]
            until(lambda: proxy.sent)
            results += [threads.submit(call) for call in calls[1:]]
            until(lambda: client._batcher.waiting == 3)
            opened.set()
            for result in results:
                self.assertEqual(result.result()["outcome"], "queued")
        self.assertEqual([request.path for request in proxy.sent], ["/api/route", "/api/route:batch"])
        self.assertEqual(sorted(item["key"] for item in proxy.sent[1].body["items"]), ["b", "c", "d"])

    def test_an_invalid_item_fails_alone_with_the_error_that_a_single_call_gets(self) -> None:
        client = Proxy().client(batching=True)
        calls = self.route_calls(client, [str(number) for number in range(30)])
        calls += self.route_calls(client, ["bad"], priority=5_000)
        calls += self.route_calls(client, ["unreadable"], priority="high")
        *good, bad, unreadable = all_results(calls)
        self.assertEqual({decision["outcome"] for decision in good}, {"queued"})
        with self.assertRaises(ApiError) as single:
            self.plain.routing.route(pool_id=self.pool_id, type="job", priority=5_000)
        for error in (bad, unreadable):
            self.assertEqual((type(error), error.code, error.status), (ApiError, "INVALID_ARGUMENT", 400))
        self.assertEqual(str(bad), str(single.exception))
        self.assertEqual(bad.violations, single.exception.violations)
        self.assertNotEqual(bad.request_id, "")
        self.assertEqual(len(self.keys()), 30)

    def test_a_batch_that_is_too_large_for_a_proxy_is_divided(self) -> None:
        def refuse(forward: Any, request: Any) -> Any:
            return (413, [], b"<h1>Request Entity Too Large</h1>") if len(request.body.get("items", ())) > 4 else forward()

        keys = [str(number) for number in range(40)]
        results = all_results(self.route_calls(Proxy(refuse).client(batching=True), keys))
        self.assertEqual([each["key"] for each in results], keys)
        self.assertEqual(self.keys(), sorted(keys))

    def test_a_batch_whose_response_is_lost_is_sent_again_under_its_key_and_no_item_is_routed_twice(self) -> None:
        losses = Counter[str]()

        def lose(forward: Any, request: Any) -> Any:
            answer = forward()
            losses[request.key] += 1
            return None if losses[request.key] < 3 else answer

        keys = [str(number) for number in range(50)]
        decisions = all_results(self.route_calls(Proxy(lose).client(batching=True), keys))
        self.assertEqual(set(losses.values()), {3})
        stored = sorted(item["id"] for item in items_of(self.plain, self.pool_id))
        self.assertEqual(stored, sorted(decision["queue_item_id"] for decision in decisions))

    def test_a_batch_that_fails_as_a_whole_for_good_fails_each_of_its_calls(self) -> None:
        client = Proxy(lambda _, __: None).client(batching=True, max_retries=1)
        for error in all_results(self.route_calls(client, ["a", "b", "c"])):
            self.assertIsInstance(error, TransportError)

    def test_a_call_with_its_own_idempotency_key_is_sent_alone(self) -> None:
        proxy = Proxy()
        own = CallOptions(idempotency_key=f"own-{self.pool_id}")
        calls = self.route_calls(proxy.client(batching=True), ["once", "once"], call=own)
        first, second = all_results(calls)
        self.assertEqual(first["queue_item_id"], second["queue_item_id"])
        self.assertEqual([request.path for request in proxy.sent], ["/api/route", "/api/route"])

    def test_the_deadline_of_a_call_includes_its_wait_for_a_batch(self) -> None:
        opened = threading.Event()
        proxy = Proxy(lambda forward, _: opened.wait(30) and forward())
        client = proxy.client(batching=True)
        brief = CallOptions(timeout=0.2)
        with ThreadPoolExecutor(2) as threads:
            in_flight = threads.submit(self.route_calls(client, ["a"], call=brief)[0])
            until(lambda: proxy.sent)
            waiting = threads.submit(self.route_calls(client, ["b"], call=brief)[0])
            for each in (in_flight, waiting):
                self.assertIsInstance(each.exception(), DeadlineError)
        opened.set()
        until(lambda: not client._batcher._queues)
        self.assertEqual(client._batcher.waiting, 0)

    def test_calls_beyond_the_bound_fail_at_once(self) -> None:
        opened = threading.Event()
        proxy = Proxy(lambda forward, _: opened.wait(30) and forward())
        client = proxy.client()
        batcher = Batcher(client.transport, waiting_max=2)

        def submit(key: str) -> Any:
            return batcher.submit(routing.ROUTE, {"pool_id": self.pool_id, "type": "job", "key": key}, None)

        calls = [submit("a")]
        until(lambda: proxy.sent)
        calls += [submit("b"), submit("c")]
        with self.assertRaises(BacklogError) as refused:
            submit("d")
        self.assertTrue(refused.exception.retryable)
        opened.set()
        self.assertEqual([call.result()["outcome"] for call in calls], ["queued"] * 3)
        self.assertEqual(self.keys(), ["a", "b", "c"])

    def test_an_item_that_is_refused_for_now_is_repeated_in_later_batches(self) -> None:
        def refuse(forward: Any, request: Any) -> Any:
            error = {"error_code": "ROUTING_THROTTLED", "error_message": "full"}
            results = [error for _ in request.body.get("items", [None])]
            return 200, [("content-type", "application/json")], json.dumps({"data": {"results": results}}).encode()

        proxy = Proxy(refuse)
        batcher = Batcher(proxy.client(max_retries=3).transport)
        fields = [{"pool_id": self.pool_id, "type": "job", "key": str(number)} for number in range(20)]
        calls = [batcher.submit(routing.ROUTE, each, None) for each in fields]
        for call in calls:
            with self.assertRaises(ApiError) as refused:
                call.result()
            self.assertEqual((refused.exception.code, refused.exception.status), ("ROUTING_THROTTLED", 429))
        self.assertEqual([len(request.body["items"]) for request in proxy.sent][:1], [20])
        self.assertEqual(sum(len(request.body["items"]) for request in proxy.sent), 80)

    def test_completions_failures_and_records_are_batched(self) -> None:
        proxy = Proxy()
        client = proxy.client(batching=True)
        all_results(self.route_calls(self.plain, [str(number) for number in range(8)]))
        leased = self.plain.work.lease_items(pool_id=self.pool_id, max_items=8, lease_s=60)["items"]

        def report(call: Any, item: Any, **fields: Any) -> Callable[[], Any]:
            lease = {name: item[name] for name in ("pool_id", "queue_item_id", "lease_token")}
            return lambda: call(**lease, **fields)

        results = all_results(
            [report(client.work.complete_item, item) for item in leased[:4]]
            + [report(client.work.fail_item, item, reason_code="broken") for item in leased[4:]]
        )
        self.assertEqual([each for each in results if isinstance(each, Exception)], [])
        self.assertEqual(Counter(item["state"] for item in items_of(self.plain, self.pool_id))["completed"], 4)
        run_id, stream_id = new_stream(self.plain)
        append = partial(client.workflow_streams.append_record, run_id=run_id, stream_id=stream_id)
        appended = all_results([partial(append, payload=number) for number in range(20)])
        self.assertEqual(sorted(each["sequence"] for each in appended), list(range(1, 21)))
        stored = self.plain.workflow_streams.read_records(run_id=run_id, stream_id=stream_id)["records"]
        payloads = {record["sequence"]: record["payload"] for record in stored}
        self.assertEqual([payloads[each["sequence"]] for each in appended], list(range(20)))
        self.assertLess(len(proxy.sent), 20)


class AsyncBatchingTests(unittest.IsolatedAsyncioTestCase):
    async def test_a_thousand_concurrent_coroutines_are_a_few_requests(self) -> None:
        plain = plain_client()
        pool_id = new_pool(plain)
        proxy = Proxy()
        keys = [str(number) for number in range(1_000)]
        async with proxy.async_client(batching=True, threads=2) as client:
            decisions = await asyncio.gather(
                *(client.routing.route(pool_id=pool_id, type="job", key=key) for key in keys)
            )
            self.assertEqual([decision["key"] for decision in decisions], keys)
            self.assertLessEqual(len(proxy.sent), 100)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(client.routing.route(pool_id=pool_id, type="job", key="late"), 0)
        self.assertLessEqual(len(items_of(plain, pool_id)), 1_001)
