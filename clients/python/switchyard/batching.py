"""Sends calls that are made at the same time, or while another is in flight, as one request."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import threading
import time
from dataclasses import replace
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from .generated.error_codes import ERRORS
from .errors import ApiError, BacklogError, DeadlineError, TransportError
from .operation import CallOptions, JsonList, Operation, dump_json
from .generated.services import experiment, routing, work, workflow_stream
from .transport import Transport

#: The most characters of the items of one request. A character has at most three bytes, and a request at most 4 MiB.
CHARS_MAX = 1_000_000
_ITEMS_MAX = 1000
#: How long a first call waits for others, in seconds.
_COLLECT = 0.001

#: Errors of a whole batch that one of its items, or their number, can cause. Nothing of the batch was applied.
_ITEM_CAUSES = (
    "INVALID_ARGUMENT",
    "FAILED_PRECONDITION",
    "PAYLOAD_TOO_LARGE",
    "QUOTA_EXCEEDED",
    "STREAM_QUOTA_EXHAUSTED",
)

#: The item had no effect and has to follow in the next batch.
_AGAIN = "again"
#: The item was refused, and only a call of its own says why.
_ALONE = "alone"


class _Value(NamedTuple):
    value: Any


class _Refusal(NamedTuple):
    error: Dict[str, Any]


_Result = Union[_Value, _Refusal, str]


class _Form(NamedTuple):
    """How calls of an operation travel together."""

    batch: Operation
    #: The field of the batch that has the items.
    items: str
    #: Whether a batch has a field once, and not in each item.
    is_common: Callable[[str], bool]
    #: The fields that no batch can carry.
    single: Sequence[str]
    #: Divides the response of a batch into one result for each item, in order.
    divide: Callable[[Dict[str, Any], int], List[_Result]]


class _Call:
    """A call that waits for its batch or for its result. Its own deadline ends it without the others."""

    def __init__(self, queue: "_Queue", text: str) -> None:
        self.text = text
        self.ends_at = time.monotonic() + queue.timeout
        self.future: "concurrent.futures.Future[Any]" = concurrent.futures.Future()
        #: How often the service has refused it for now.
        self.refusals = 0
        #: When it may be sent, for a call that was refused.
        self.due_at = 0.0
        self._queue = queue

    def result(self) -> Any:
        try:
            return self.future.result(max(0.0, self.ends_at - time.monotonic()))
        except concurrent.futures.TimeoutError:
            if not self._queue.leave(self):
                return self.future.result()
            raise DeadlineError(self._queue.timeout) from None

    async def result_async(self) -> Any:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(self.future), self.ends_at - time.monotonic())
        except asyncio.TimeoutError:
            raise DeadlineError(self._queue.timeout) from None
        finally:
            self._queue.leave(self)

    def end(self, value: Any = None, error: Optional[BaseException] = None) -> None:
        try:
            if error is None:
                self.future.set_result(value)
            else:
                self.future.set_exception(error)
        except concurrent.futures.InvalidStateError:
            pass  # Its deadline was earlier.


class _Queue:
    """Calls of one operation that can share a request. It has one request in flight."""

    def __init__(self, batcher: "Batcher", operation: Operation, common: Dict[str, Any], timeout: float) -> None:
        self.operation = operation
        self.common = common
        self.timeout = timeout
        self.waiting: "Dict[_Call, None]" = {}
        self.changed = threading.Condition(batcher.lock)
        self._batcher = batcher

    def leave(self, call: _Call) -> bool:
        """Removes a call whose caller does not wait any more. Returns False if it has a result already."""
        with self._batcher.lock:
            if call in self.waiting:
                del self.waiting[call]
                self._batcher.waiting -= 1
        return call.future.cancel()


class Batcher:
    """Collects the calls that the API has batches for."""

    def __init__(self, transport: Transport, waiting_max: int = 10_000) -> None:
        self.lock = threading.Lock()
        self.waiting = 0
        self._transport = transport
        self._waiting_max = waiting_max
        self._queues: Dict[Tuple[Operation, float, str], _Queue] = {}

    def submit(self, operation: Operation, fields: Dict[str, Any], options: Optional[CallOptions]) -> Optional[_Call]:
        """Adds a call to its batch; None if it has to be sent alone."""
        form = _FORMS.get(operation)
        options = options or CallOptions()
        if form is None or replace(options, timeout=None) != CallOptions():
            return None
        present = {name: value for name, value in fields.items() if value is not None}
        if any(name in present for name in form.single):
            return None
        common = {name: value for name, value in present.items() if form.is_common(name)}
        # The item is read now, as by a plain call: its caller may change it afterwards.
        text = dump_json({name: value for name, value in present.items() if not form.is_common(name)})
        timeout = self._transport.timeout if options.timeout is None else options.timeout
        key = (operation, timeout, dump_json(common))
        with self.lock:
            if self.waiting >= self._waiting_max:
                raise BacklogError(self._waiting_max)
            queue = self._queues.get(key)
            is_new = queue is None
            if queue is None:
                queue = self._queues[key] = _Queue(self, operation, common, timeout)
            call = _Call(queue, text)
            self._enqueue(queue, call)
            queue.changed.notify()
        if is_new:
            threading.Thread(target=self._send_all, args=(key, queue), name="switchyard-batch", daemon=True).start()
        return call

    def _enqueue(self, queue: _Queue, call: _Call) -> None:
        queue.waiting[call] = None
        self.waiting += 1

    def _send_all(self, key: Tuple[Operation, float, str], queue: _Queue) -> None:
        """Sends calls until there are none, then closes the queue."""
        time.sleep(_COLLECT)
        while True:
            with self.lock:
                calls = self._take(queue)
                if not calls:
                    if not queue.waiting:
                        del self._queues[key]
                        return
                    due_at = min(call.due_at for call in queue.waiting)
                    queue.changed.wait(max(0.0, due_at - time.monotonic()))
                    continue
            self._send(queue, calls)

    def _take(self, queue: _Queue) -> List[_Call]:
        now = time.monotonic()
        taken: List[_Call] = []
        chars = 0
        for call in queue.waiting:
            if call.due_at > now:
                continue
            chars += len(call.text)
            if len(taken) == _ITEMS_MAX or (taken and chars > CHARS_MAX):
                break
            taken.append(call)
        for call in taken:
            del queue.waiting[call]
        self.waiting -= len(taken)
        return taken

    def _send(self, queue: _Queue, taken: Sequence[_Call], alone: bool = False) -> None:
        now = time.monotonic()
        calls = [call for call in taken if not call.future.done() and call.ends_at > now]
        if not calls:
            return
        form = _FORMS[queue.operation]
        request_ids: List[str] = []
        options = CallOptions(
            timeout=max(call.ends_at for call in calls) - now,
            on_response=lambda response: request_ids.append(response.request_id),
        )
        try:
            # A refused call stays in batches: the others would wait for the retries of a plain call.
            if alone or (len(calls) == 1 and calls[0].refusals == 0):
                fields = {**queue.common, **json.loads(calls[0].text)}
                calls[0].end(self._transport.call(queue.operation, fields, options)["data"])
                return
            fields = {**queue.common, form.items: JsonList(call.text for call in calls)}
            data = self._transport.call(form.batch, fields, options)["data"]
            results = form.divide(data, len(calls))
            later = [call for call, result in zip(calls, results) if self._settle(call, result, request_ids[-1])]
            with self.lock:
                for call in later:
                    self._enqueue(queue, call)
            self._send(queue, [call for call, result in zip(calls, results) if result == _AGAIN])
            for call, result in zip(calls, results):
                if result == _ALONE:
                    self._send(queue, [call], alone=True)
        except Exception as error:
            if len(calls) > 1 and _is_caused_by_items(error):
                # Finds the cause in few requests, and keeps the order of the calls.
                half = len(calls) // 2
                self._send(queue, calls[:half])
                self._send(queue, calls[half:])
                return
            for call in calls:
                call.end(error=DeadlineError(queue.timeout) if isinstance(error, DeadlineError) else error)

    def _settle(self, call: _Call, result: _Result, request_id: str) -> bool:
        """Ends a call with the result of its item. Returns whether it has to be sent again later."""
        if isinstance(result, _Value):
            call.end(result.value)
        elif isinstance(result, _Refusal):
            error = _to_api_error(result.error, request_id)
            if error.retryable and call.refusals < self._transport.max_retries:
                call.refusals += 1
                call.due_at = time.monotonic() + self._transport.backoff.delay(call.refusals, error.retry_after)
                if call.due_at < call.ends_at:
                    return True
            call.end(error=error)
        return False


def _is_caused_by_items(error: Exception) -> bool:
    if isinstance(error, ApiError):
        return error.code in _ITEM_CAUSES
    # A proxy refuses large requests with a page.
    return isinstance(error, TransportError) and error.status == 413


def _to_api_error(item: Dict[str, Any], request_id: str) -> ApiError:
    """The error that a single call would have got."""
    code = item["error_code"]
    status, retryable, title = ERRORS.get(code, (500, False, code))
    problem = {
        "title": title,
        "detail": item["error_message"],
        "errorCode": code,
        "retryable": retryable,
        "request_id": request_id,
        "violations": item.get("violations", []),
    }
    wait = item.get("retry_after_s", 0)
    return ApiError(status, problem, wait if wait > 0 else None)


def _to_result(result: Dict[str, Any]) -> _Result:
    return _Refusal(result) if result["error_code"] else _Value(result)


def _divide_routes(data: Dict[str, Any], _: int) -> List[_Result]:
    return [_Value(each["decision"]) if "decision" in each else _Refusal(each) for each in data["results"]]


def _divide_records(data: Dict[str, Any], count: int) -> List[_Result]:
    appended, first, at = data["appended"], data["first_sequence"], data.get("appended_at")
    return [_Value({"sequence": first + n, "appended_at": at}) if n < appended else _AGAIN for n in range(count)]


def _divide_scores(data: Dict[str, Any], _: int) -> List[_Result]:
    def to_result(each: Dict[str, Any]) -> _Result:
        if "score" in each:
            return _Value(each["score"])
        # The result of a batch does not name the invalid fields.
        if each["error_code"] == "INVALID_ARGUMENT":
            return _ALONE
        return _Refusal({"error_code": each["error_code"], "error_message": each["error"]})

    return [to_result(each) for each in data["results"]]


def _one_of(*names: str) -> Callable[[str], bool]:
    return lambda name: name in names


_FORMS: Dict[Operation, _Form] = {
    routing.ROUTE: _Form(routing.ROUTE_BATCH, "items", _one_of("dry_run"), (), _divide_routes),
    # The items of a batch have no ratings.
    work.COMPLETE_ITEM: _Form(
        work.COMPLETE_ITEMS,
        "items",
        _one_of("pool_id"),
        ("cost", "score"),
        lambda data, _: [_to_result(each) for each in data["results"]],
    ),
    # The items of a batch have one reason.
    work.FAIL_ITEM: _Form(
        work.FAIL_ITEMS,
        "items",
        lambda name: name not in ("queue_item_id", "lease_token"),
        (),
        lambda data, _: [_to_result(each) for each in data["results"]],
    ),
    workflow_stream.APPEND_RECORD: _Form(
        workflow_stream.APPEND_RECORD_BATCH, "records", _one_of("run_id", "stream_id", "wait_s"), (), _divide_records
    ),
    experiment.RECORD_SCORE: _Form(
        experiment.RECORD_SCORE_BATCH, "scores", _one_of("experiment_id", "environment_id"), (), _divide_scores
    ),
    experiment.ASSIGN: _Form(
        experiment.ASSIGN_BATCH,
        "units",
        _one_of("experiment_id", "environment_id"),
        (),
        lambda data, _: [_Value(each) for each in data["assignments"]],
    ),
}
