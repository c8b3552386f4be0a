"""What the tests share: clients, pools, and a proxy that loses requests."""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, List, NamedTuple, Optional, Tuple
from urllib.parse import urlsplit

from switchyard import AsyncClient, Backoff, Client

ADDRESS = os.environ["SWITCHYARD_ADDRESS"]
KEY = os.environ["SWITCHYARD_KEY"]
_FAST = Backoff(0.001, 0.005)


class Sent(NamedTuple):
    """A request that passed the proxy."""

    verb: str
    path: str
    key: Optional[str]
    body: Any


#: The status, headers and body of a response.
Answer = Tuple[int, List[Tuple[str, str]], bytes]
#: Handles a request: calls the function that forwards it, or answers by itself. None loses the response.
Intercept = Callable[[Callable[[], Answer], Sent], Optional[Answer]]


class Proxy:
    """Forwards requests to the service, and can lose them or their responses."""

    def __init__(self, intercept: Intercept = lambda forward, _: forward()) -> None:
        self.sent: List[Sent] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Responses are written in parts, which otherwise wait for each other.
            disable_nagle_algorithm = True

            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                is_json = self.headers.get("content-type", "").startswith("application/json")
                request = Sent(
                    self.command, self.path, self.headers.get("idempotency-key"), json.loads(body) if is_json else body
                )
                proxy.sent.append(request)
                answer = intercept(lambda: _forward(self, body), request)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in headers:
                    if name.lower() not in ("content-length", "transfer-encoding", "connection", "keep-alive"):
                        self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def client(self, **options: Any) -> Client:
        return Client(self.address, **{"api_key": KEY, "backoff": _FAST, **options})

    def async_client(self, **options: Any) -> AsyncClient:
        return AsyncClient(self.address, **{"api_key": KEY, "backoff": _FAST, **options})


def _forward(handler: BaseHTTPRequestHandler, body: bytes) -> Answer:
    address = urlsplit(ADDRESS)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    headers = {name: value for name, value in handler.headers.items() if name.lower() != "host"}
    try:
        connection.request(handler.command, handler.path, body, headers)
        response = connection.getresponse()
        return response.status, response.getheaders(), response.read()
    finally:
        connection.close()


def problem(code: str, retryable: bool, *headers: Tuple[str, str]) -> Answer:
    """A response of the service that refuses a call."""
    body = {"errorCode": code, "detail": "not now", "retryable": retryable}
    return 503, [("content-type", "application/problem+json"), *headers], json.dumps(body).encode()


def plain_client(**options: Any) -> Client:
    return Client(ADDRESS, api_key=KEY, **options)


def new_pool(client: Client, **config: Any) -> str:
    return client.pools.create(name=f"pool {uuid.uuid4()}", strategy="first_accept", config=config)["id"]


def until(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """Waits for a condition."""
    ends_at = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > ends_at:
            raise AssertionError("the condition did not become true in time")
        time.sleep(0.01)


def items_of(client: Client, pool_id: str) -> List[Any]:
    return client.queues.list_items(pool_id=pool_id).take(10_000)


def publish_workflow(client: Client, key: str, *steps: Any, **members: Any) -> None:
    document = {"dsl": "1", "key": key, "timeout": "1d", "steps": list(steps), **members}
    client.workflow_definitions.publish(id=client.workflow_definitions.create(document=document)["id"])


def new_stream(client: Client) -> Tuple[str, str]:
    """Starts a run that waits, with a stream."""
    key = f"waiting-{uuid.uuid4()}"
    publish_workflow(client, key, {"id": "pause", "wait_timer": {"for": "1h"}})
    run_id = client.workflow_runs.start(definition=key)["run"]["id"]
    return run_id, client.workflow_streams.create(run_id=run_id, name="out")["id"]
