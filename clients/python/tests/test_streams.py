from __future__ import annotations

import asyncio
import socket
import threading
import unittest
from typing import Any, List

from switchyard import ApiError, AsyncClient, Backoff, Client

from .support import ADDRESS, KEY, new_stream, plain_client, until


class CuttingProxy:
    """Forwards connections to the service, and cuts those that are open."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: List[socket.socket] = []
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        while self._pairs:
            self._pairs.pop().shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        host, port = ADDRESS.rsplit("/", 1)[1].split(":")
        while True:
            client, _ = self._listener.accept()
            self.connections += 1
            service = socket.create_connection((host, int(port)))
            self._pairs += [client, service]
            for source, target in ((client, service), (service, client)):
                threading.Thread(target=self._copy, args=(source, target), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while True:
                chunk = source.recv(65536)
                if not chunk:
                    break
                target.sendall(chunk)
            target.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class StreamTests(unittest.TestCase):
    def setUp(self) -> None:
        self.client = plain_client()

    def publish(self, subject: int) -> Any:
        return self.client.events.publish(type="python.paid", subject=str(subject))

    def test_a_stream_continues_after_a_lost_connection_without_a_gap_or_a_repetition(self) -> None:
        proxy = CuttingProxy()
        client = Client(proxy.address, api_key=KEY, backoff=Backoff(0.001, 0.005))
        first = self.publish(0)
        self.publish(1)
        subjects: List[int] = []
        with client.events.subscribe(types=["python.*"], cursor=first["id"]) as stream:
            for event in stream:
                subjects.append(int(event["subject"]))
                self.assertEqual(stream.last_event_id, event["id"])
                if len(subjects) == 6:
                    break
                # The connection is lost while the next event is published.
                proxy.cut()
                self.publish(subjects[-1] + 1)
        self.assertEqual(subjects, [1, 2, 3, 4, 5, 6])
        self.assertEqual(proxy.connections, 6)

    def test_a_stream_that_the_service_refuses_ends_with_the_error(self) -> None:
        refused = Client(ADDRESS, api_key="sk_test_nobody_00")
        with self.assertRaises(ApiError) as error:
            list(refused.events.subscribe())
        self.assertEqual(error.exception.code, "UNAUTHENTICATED")

    def test_a_stream_that_is_complete_ends_and_its_end_is_no_record(self) -> None:
        run_id, stream_id = new_stream(self.client)
        for value in (1, 2):
            self.client.workflow_streams.append_record(run_id=run_id, stream_id=stream_id, payload=value)
        self.client.workflow_streams.close(run_id=run_id, stream_id=stream_id)
        stream = self.client.workflow_streams.subscribe(run_id=run_id, stream_id=stream_id)
        self.assertEqual([(record["sequence"], record["payload"]) for record in stream], [(1, 1), (2, 2)])
        self.assertEqual(stream.last_event_id, "2")

    def test_another_thread_closes_a_stream_that_waits(self) -> None:
        first = self.publish(100)
        stream = self.client.events.subscribe(types=["python.*"], cursor=first["id"])
        self.publish(101)
        seen: List[str] = []

        def read() -> None:
            seen.extend(event["subject"] for event in stream)

        reading = threading.Thread(target=read)
        reading.start()
        until(lambda: stream.last_event_id)
        stream.close()
        reading.join(10)
        self.assertFalse(reading.is_alive())
        self.assertEqual(seen, ["101"])

    def test_another_thread_closes_a_stream_whose_connection_is_used_once(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", api_key=KEY)
            stream = client.events.subscribe()
            reading = threading.Thread(target=lambda: list(stream), daemon=True)
            reading.start()
            service, _ = listener.accept()
            with service:
                head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n"
                service.sendall(head + b'id: 7\ndata: {"subject": "1"}\n\n')
                until(lambda: stream.last_event_id)
                stream.close()
                reading.join(10)
                self.assertFalse(reading.is_alive())


class AsyncStreamTests(unittest.IsolatedAsyncioTestCase):
    async def test_open_streams_take_no_threads_of_calls(self) -> None:
        async with AsyncClient(ADDRESS, api_key=KEY, threads=1) as client:
            first = await client.events.publish(type="python.threads")
            stream = client.events.subscribe(types=["python.threads"], cursor=first["id"])
            await client.events.publish(type="python.threads", subject="a")
            seen: List[str] = []

            async def read() -> None:
                async for event in stream:
                    seen.append(event["subject"])

            reading = asyncio.ensure_future(read())
            while not seen:
                await asyncio.sleep(0.01)
            await asyncio.wait_for(client.pools.list().page(), 20)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def test_events_arrive_in_a_coroutine_and_a_cancelled_task_ends_its_stream(self) -> None:
        async with AsyncClient(ADDRESS, api_key=KEY, threads=2) as client:
            first = await client.events.publish(type="python.async")
            stream = client.events.subscribe(types=["python.async"], cursor=first["id"])
            seen: List[str] = []

            async def read() -> None:
                async for event in stream:
                    seen.append(event["subject"])

            reading = asyncio.ensure_future(read())
            for number in range(3):
                await client.events.publish(type="python.async", subject=str(number))
            while len(seen) < 3:
                await asyncio.sleep(0.01)
            self.assertEqual(seen, ["0", "1", "2"])
            reading.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await reading
            # Both threads are free again.
            await asyncio.gather(*(client.pools.list().page() for _ in range(4)))
