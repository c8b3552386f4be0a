from __future__ import annotations

import asyncio
import threading
import time
import unittest
import uuid
from collections import Counter
from typing import Any, Callable, Dict, List

from switchyard import ApiError, AsyncClient
from switchyard.workers import (
    LeaseLost,
    Worker,
    WorkerStopped,
    WorkFailure,
    create_async_queue_worker,
    create_async_workflow_worker,
    create_queue_worker,
    create_workflow_worker,
)

from .support import ADDRESS, KEY, Proxy, items_of, new_pool, plain_client, publish_workflow, until

_QUICK_RETRY = {"initial_ms": 1, "max_ms": 1, "max_attempts": 3}


def work(worker: Worker, condition: Callable[[], Any], drain: float = 5.0) -> None:
    """Runs a worker until a condition holds."""
    errors: List[BaseException] = []

    def run() -> None:
        try:
            worker.run(drain)
        except BaseException as error:
            errors.append(error)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    until(lambda: errors or condition())
    worker.stop()
    running.join(30)
    if errors:
        raise errors[0]
    if running.is_alive():
        raise AssertionError("the worker does not stop")


class QueueWorkerTests(unittest.TestCase):
    def setUp(self) -> None:
        self.client = plain_client()

    def pool(self, count: int, **retry: int) -> str:
        pool_id = new_pool(self.client, retry={**_QUICK_RETRY, **retry})
        items: Any = [{"pool_id": pool_id, "type": "job", "key": str(n), "payload": {"n": n}} for n in range(count)]
        if items:
            self.client.routing.route_batch(items=items)
        return pool_id

    def states(self, pool_id: str) -> Dict[str, int]:
        return Counter(item["state"] for item in items_of(self.client, pool_id))

    def test_items_are_processed_up_to_the_concurrency_and_their_results_travel_with_the_next_lease(self) -> None:
        pool_id = self.pool(60)
        proxy = Proxy()
        lock, full = threading.Lock(), threading.Event()
        seen: List[int] = []
        running = most = 0

        def handle(item: Any, context: Any) -> Any:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
                # The first items wait until as many run as may, however many calls it takes to lease them.
                if running == 20:
                    full.set()
            full.wait(30)
            context.rate(cost=0.5)
            with lock:
                seen.append(item["payload"]["n"])
                running -= 1
            return {"doubled": item["payload"]["n"] * 2}

        worker = create_queue_worker(proxy.client(), pool_id=pool_id, concurrency=20, handle=handle)
        work(worker, lambda: len(seen) == 60)
        self.assertEqual((sorted(seen), most), (list(range(60)), 20))
        for each in items_of(self.client, pool_id)[:3]:
            item = self.client.queues.get_item(pool_id=pool_id, queue_item_id=each["id"])
            self.assertEqual((item["state"], item["result"]["doubled"]), ("completed", int(item["key"]) * 2))
        self.assertEqual(self.states(pool_id), {"completed": 60})
        leases = [request.body for request in proxy.sent]
        self.assertTrue(any(len(each.get("completed", ())) > 1 and not each.get("report_only") for each in leases))
        self.assertLess(len(leases), 60)

    def test_an_item_that_fails_is_retried_unless_the_handler_says_that_it_is_useless(self) -> None:
        pool_id = self.pool(2)
        attempts: List[str] = []

        def handle(item: Any, _: Any) -> None:
            attempts.append(f"{item['key']}:{item['attempt']}")
            if item["key"] == "0" and item["attempt"] == 1:
                raise RuntimeError("the printer is busy")
            if item["key"] == "1":
                raise WorkFailure("there is no such printer", code="no_printer", retryable=False)

        worker = create_queue_worker(self.client, pool_id=pool_id, handle=handle)
        work(worker, lambda: self.states(pool_id) == {"completed": 1, "dead_lettered": 1})
        self.assertEqual(sorted(attempts), ["0:1", "0:2", "1:1"])
        reasons = {item["state"]: item["failures"][0] for item in items_of(self.client, pool_id)}
        self.assertEqual(reasons["completed"]["reason"], "the printer is busy")
        self.assertEqual(reasons["dead_lettered"]["reason_code"], "no_printer")

    def test_a_result_that_is_no_json_fails_its_own_item(self) -> None:
        pool_id = self.pool(2)
        worker = create_queue_worker(
            self.client, pool_id=pool_id, handle=lambda item, _: object() if item["key"] == "0" else "fine"
        )
        work(worker, lambda: self.states(pool_id) == {"completed": 1, "dead_lettered": 1})
        (dead,) = [item for item in items_of(self.client, pool_id) if item["state"] == "dead_lettered"]
        self.assertIn("object is no JSON", dead["failures"][-1]["reason"])

    def test_a_rating_that_is_no_json_fails_its_own_item(self) -> None:
        pool_id = self.pool(2)

        def handle(item: Any, context: Any) -> None:
            context.rate(cost=float("nan") if item["key"] == "0" else 1.0)

        work(
            create_queue_worker(self.client, pool_id=pool_id, handle=handle),
            lambda: self.states(pool_id) == {"completed": 1, "dead_lettered": 1},
        )

    def test_progress_can_be_read_while_the_handler_runs(self) -> None:
        pool_id = self.pool(1)
        during: List[Any] = []

        def handle(item: Any, context: Any) -> None:
            context.progress(40, "half way")
            during.append(self.client.queues.get_item(pool_id=pool_id, queue_item_id=item["queue_item_id"])["progress"])

        work(create_queue_worker(self.client, pool_id=pool_id, handle=handle), lambda: during)
        self.assertEqual((during[0]["percent"], during[0]["note"]), (40, "half way"))

    def test_heartbeats_keep_an_item_beyond_its_lease_and_a_cancelled_item_stops_its_handler(self) -> None:
        pool_id = self.pool(2)
        reasons: List[BaseException] = []

        def handle(item: Any, context: Any) -> None:
            self.assertEqual(item["attempt"], 1)
            if item["key"] == "0":
                # Longer than the lease.
                context.wait(3.5)
                return
            self.client.queues.cancel_item(pool_id=pool_id, queue_item_id=item["queue_item_id"])
            try:
                context.wait(30)
            except LeaseLost as error:
                reasons.append(error)
                raise

        worker = create_queue_worker(self.client, pool_id=pool_id, lease_seconds=3, handle=handle)
        work(worker, lambda: reasons and self.states(pool_id) == {"completed": 1, "cancelled": 1})

    def test_a_worker_survives_lost_responses_and_every_item_is_leased_and_completed_once(self) -> None:
        pool_id = self.pool(30)

        def lose(forward: Any, _: Any) -> Any:
            answer = forward()
            return None if len(proxy.sent) % 3 == 0 else answer

        proxy = Proxy(lose)
        seen: List[str] = []
        worker = create_queue_worker(
            proxy.client(), pool_id=pool_id, concurrency=3, handle=lambda item, _: seen.append(item["key"])
        )
        work(worker, lambda: len(seen) >= 30)
        self.assertEqual(self.states(pool_id), {"completed": 30})
        self.assertEqual(len(seen), 30, "a repeated call gets the same items, so none waits for its lease to expire")

    def test_a_stopped_worker_finishes_what_runs_and_gives_back_what_needs_too_long_without_a_failed_attempt(self) -> None:
        pool_id = self.pool(3, max_attempts=1)
        started: List[str] = []
        reasons: List[BaseException] = []

        def handle(item: Any, context: Any) -> None:
            started.append(item["key"])
            if item["key"] == "0":
                until(lambda: len(started) == 2)
                return
            try:
                context.wait(30)
            except WorkerStopped as error:
                reasons.append(error)
                raise

        worker = create_queue_worker(self.client, pool_id=pool_id, concurrency=2, handle=handle)
        # A third item may start before the worker stops.
        work(worker, lambda: len(started) >= 2, drain=0.1)
        states = self.states(pool_id)
        self.assertEqual((states["completed"], states.get("leased")), (1, None))
        self.assertEqual(len(reasons), len(started) - 1)
        for item in items_of(self.client, pool_id):
            if item["state"] != "completed":
                self.assertEqual((item["state"], item["attempt"], item["failures"]), ("ready", 0, []))

    def test_a_worker_that_the_service_refuses_for_good_ends_with_the_error(self) -> None:
        worker = create_queue_worker(self.client, pool_id="01JZZZZZZZZZZZZZZZZZZZZZZZ", handle=lambda *_: None)
        with self.assertRaises(ApiError) as refused:
            worker.run()
        self.assertEqual(refused.exception.code, "NOT_FOUND")


class WorkflowWorkerTests(unittest.TestCase):
    def setUp(self) -> None:
        self.client = plain_client()
        self.name = f"documents-{uuid.uuid4()}"

    def publish(self, **step: Any) -> None:
        task = {"queue": self.name, "type": "document.read", "errors": ["unreadable"]}
        read = {"id": "read", "task": task, "with": {"url": "=input.url"}, **step}
        publish_workflow(self.client, self.name, read, output={"words": "=steps.read.words"})

    def test_tasks_have_retries_progress_and_errors(self) -> None:
        caught = {"on": ["unreadable"], "steps": [{"id": "none", "transform": {"words": -1}}]}
        self.publish(
            timeout={"attempt": "1m", "heartbeat": "3s"},
            retry={"max_attempts": 3, "initial": "1ms"},
            catch=[caught],
        )
        details: List[Any] = []

        def read(given: Any, context: Any) -> Any:
            if given["url"] == "b":
                raise WorkFailure("no such document", code="unreadable", retryable=False)
            details.append(context.task.get("details"))
            if context.task["attempt"] > 1:
                return {"words": 120 * context.task["attempt"]}
            context.report({"page": 3})
            # Longer than the time between heartbeats, so only heartbeats keep the task.
            time.sleep(3.5)
            raise RuntimeError("the disk was busy")

        worker = create_workflow_worker(self.client, queue=self.name, handlers={"document.read": read})
        runs = [self.client.workflow_runs.start(definition=self.name, input={"url": url})["run"] for url in ("a", "b")]
        work(worker, lambda: all(map(self.has_succeeded, runs)))
        self.assertEqual([self.read_run(run)["output"] for run in runs], [{"words": 240}, {"words": -1}])
        self.assertEqual(details, [None, {"page": 3}])

    def test_what_is_no_json_fails_its_own_task(self) -> None:
        self.publish(retry={"max_attempts": 1})

        def read(given: Any, context: Any) -> Any:
            if given["url"] == "progress":
                context.report({1, 2})
            if given["url"] == "details":
                raise WorkFailure("no such document", details={1, 2})
            return {"words": {1, 2} if given["url"] == "output" else 1}

        worker = create_workflow_worker(self.client, queue=self.name, handlers={"document.read": read})
        urls = ["output", "progress", "details", "fine"]
        runs = [self.client.workflow_runs.start(definition=self.name, input={"url": url})["run"] for url in urls]
        expected = ["failed", "failed", "failed", "succeeded"]
        work(worker, lambda: [self.read_run(run)["status"] for run in runs] == expected)

    def test_outputs_that_are_large_together_are_reported_in_several_calls(self) -> None:
        self.publish()
        count = 40
        together = threading.Barrier(count)

        def read(_: Any, __: Any) -> Any:
            together.wait(60)
            return {"words": "w" * 120_000}

        worker = create_workflow_worker(
            self.client, queue=self.name, handlers={"document.read": read}, concurrency=count
        )
        runs = [self.client.workflow_runs.start(definition=self.name, input={"url": "a"})["run"] for _ in range(count)]
        work(worker, lambda: all(map(self.has_succeeded, runs)))

    def test_a_worker_that_must_stop_gives_its_tasks_back_without_using_up_an_attempt(self) -> None:
        self.publish(retry={"max_attempts": 1})
        attempts: List[int] = []

        def slow(_: Any, context: Any) -> None:
            attempts.append(context.task["attempt"])
            context.wait(30)

        run = self.client.workflow_runs.start(definition=self.name, input={"url": "a"})["run"]
        slow_worker = create_workflow_worker(self.client, queue=self.name, handlers={"document.read": slow})
        work(slow_worker, lambda: attempts, drain=0.01)
        quick_worker = create_workflow_worker(
            self.client, queue=self.name, handlers={"document.read": lambda _, context: {"words": context.task["attempt"]}}
        )
        work(quick_worker, lambda: self.has_succeeded(run))
        self.assertEqual(self.read_run(run)["output"], {"words": 1})

    def read_run(self, run: Any) -> Any:
        return self.client.workflow_runs.get(run_id=run["id"])

    def has_succeeded(self, run: Any) -> bool:
        return bool(self.read_run(run)["status"] == "succeeded")


class AsyncWorkerTests(unittest.IsolatedAsyncioTestCase):
    async def test_coroutines_process_items_and_tasks_and_a_stopped_worker_cancels_them(self) -> None:
        plain = plain_client()
        pool_id = new_pool(plain)
        name = f"async-{uuid.uuid4()}"
        publish_workflow(plain, name, {"id": "double", "task": {"queue": name, "type": "double"}, "with": "=input.n"})
        for number in range(8):
            plain.routing.route(pool_id=pool_id, type="job", key=str(number))
            plain.workflow_runs.start(definition=name, input={"n": number})
        cancelled: List[str] = []
        doubled: List[int] = []

        async def handle(item: Any, context: Any) -> Any:
            await context.progress(10)
            if item["key"] != "7":
                return item["key"]
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                cancelled.append(item["key"])
                raise

        async def double(given: Any, _: Any) -> int:
            doubled.append(given)
            return int(given) * 2

        async with AsyncClient(ADDRESS, api_key=KEY) as client:
            workers = [
                create_async_queue_worker(client, pool_id=pool_id, handle=handle),
                create_async_workflow_worker(client, queue=name, handlers={"double": double}),
            ]
            running = [asyncio.ensure_future(asyncio.to_thread(worker.run, 0.2)) for worker in workers]

            def is_done() -> bool:
                states = Counter(item["state"] for item in items_of(plain, pool_id))
                return states["completed"] == 7 and len(doubled) == 8

            while not await asyncio.to_thread(is_done):
                await asyncio.sleep(0.01)
            for worker in workers:
                worker.stop()
            await asyncio.gather(*running)
        self.assertEqual(cancelled, ["7"])
        self.assertEqual(sorted(doubled), list(range(8)))
        (left,) = [item for item in items_of(plain, pool_id) if item["state"] != "completed"]
        self.assertEqual((left["state"], left["attempt"]), ("ready", 0))
