# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
    from ..types.routing import Decision, ItemRetryInput, Outcome, Replay, RequirementsInput, RouteBatchResponse, RouteItemInput

ROUTE = Operation("POST", "/api/route", body="*", keyed=True)
ROUTE_BATCH = Operation("POST", "/api/route:batch", body="*", keyed=True)
GET_DECISION = Operation("GET", "/api/decisions/{decision_id}")
LIST_DECISIONS = Operation("GET", "/api/decisions", result="cursor")
REPLAY_DECISION = Operation("POST", "/api/decisions/{decision_id}:replay", body="*")


class RoutingService(Service):
    """Routing: which recipient gets an item, and why."""

    def route(
        self,
        *,
        pool_id: str | None = None,
        type: str,
        key: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        requirements: RequirementsInput | None = None,
        payload: Mapping[str, Any] | None = None,
        priority: int | None = None,
        not_before: str | datetime | None = None,
        ttl_s: int | None = None,
        dry_run: bool | None = None,
        reject_as_error: bool | None = None,
        after: Sequence[str] | None = None,
        after_failure: Literal["", "cancel", "run"] | None = None,
        retry: ItemRetryInput | None = None,
        call: CallOptions | None = None,
    ) -> Decision:
        """
        Routes one item: rules and the pool's strategy choose a recipient, and the item is queued for it.

        pool_id: The pool; when empty, the rules of the pools that accept unaddressed items choose one.
        type: The type of work.
        key: What it belongs to, such as a customer: sticky_hash keeps one key with one recipient.
        attributes: The attributes for rules.
        requirements: Requirements for its recipient.
        payload: The payload for the worker; rules do not see it.
        priority: Higher is leased first; age outweighs it eventually, unless the pool's queue.order says otherwise.
        not_before: The earliest time at which it may be leased.
        ttl_s: Seconds until it expires; the pool's value when 0.
        dry_run: Decides without storing anything.
        reject_as_error: Whether a rejection is an error instead of a decision with the outcome rejected: ROUTING_THROTTLED if a throttle rejects the item, ROUTING_FAILED if a rule does. A repeat under the same idempotency key is decided anew.
        after: Items that must end before this one can be leased. They can be in any pool that the caller may use.
        after_failure: What happens if one of these items ends without being completed: cancel (default: this item is cancelled) or run (it proceeds).
        retry: Its own retries. Fields that are not set follow the pool.
        """
        return self._call(ROUTE, locals())

    def route_batch(
        self,
        *,
        items: Sequence[RouteItemInput],
        dry_run: bool | None = None,
        call: CallOptions | None = None,
    ) -> RouteBatchResponse:
        """
        Routes up to 1,000 items in one call; each has its own result, in order.

        items: The items. An item with an invalid field gets INVALID_ARGUMENT as its own result, and the others are routed. A body that cannot be decoded is rejected as a whole: malformed JSON, unknown fields, wrong types, or values that are nested too deeply or too large.
        dry_run: Decides without storing anything.
        """
        return self._call(ROUTE_BATCH, locals())

    def get_decision(
        self,
        *,
        decision_id: str,
        call: CallOptions | None = None,
    ) -> Decision:
        """
        Returns a decision, with everything it was made from.

        decision_id: The decision.
        """
        return self._call(GET_DECISION, locals())

    def list_decisions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str | None = None,
        outcome: str | None = None,
        recipient_id: str | None = None,
        key: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Decision]:
        """
        Lists decisions, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: Only those of this pool.
        outcome: Only those with this outcome.
        recipient_id: Only those for this recipient.
        key: Only those about items with this key.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(LIST_DECISIONS, locals())

    def replay_decision(
        self,
        *,
        decision_id: str,
        call: CallOptions | None = None,
    ) -> Replay:
        """
        Replays a decision from its stored inputs, and says whether the result is identical.

        decision_id: The decision.
        """
        return self._call(REPLAY_DECISION, locals())


class AsyncRoutingService(AsyncService):
    """Routing: which recipient gets an item, and why."""

    async def route(
        self,
        *,
        pool_id: str | None = None,
        type: str,
        key: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        requirements: RequirementsInput | None = None,
        payload: Mapping[str, Any] | None = None,
        priority: int | None = None,
        not_before: str | datetime | None = None,
        ttl_s: int | None = None,
        dry_run: bool | None = None,
        reject_as_error: bool | None = None,
        after: Sequence[str] | None = None,
        after_failure: Literal["", "cancel", "run"] | None = None,
        retry: ItemRetryInput | None = None,
        call: CallOptions | None = None,
    ) -> Decision:
        """
        Routes one item: rules and the pool's strategy choose a recipient, and the item is queued for it.

        pool_id: The pool; when empty, the rules of the pools that accept unaddressed items choose one.
        type: The type of work.
        key: What it belongs to, such as a customer: sticky_hash keeps one key with one recipient.
        attributes: The attributes for rules.
        requirements: Requirements for its recipient.
        payload: The payload for the worker; rules do not see it.
        priority: Higher is leased first; age outweighs it eventually, unless the pool's queue.order says otherwise.
        not_before: The earliest time at which it may be leased.
        ttl_s: Seconds until it expires; the pool's value when 0.
        dry_run: Decides without storing anything.
        reject_as_error: Whether a rejection is an error instead of a decision with the outcome rejected: ROUTING_THROTTLED if a throttle rejects the item, ROUTING_FAILED if a rule does. A repeat under the same idempotency key is decided anew.
        after: Items that must end before this one can be leased. They can be in any pool that the caller may use.
        after_failure: What happens if one of these items ends without being completed: cancel (default: this item is cancelled) or run (it proceeds).
        retry: Its own retries. Fields that are not set follow the pool.
        """
        return await self._call(ROUTE, locals())

    async def route_batch(
        self,
        *,
        items: Sequence[RouteItemInput],
        dry_run: bool | None = None,
        call: CallOptions | None = None,
    ) -> RouteBatchResponse:
        """
        Routes up to 1,000 items in one call; each has its own result, in order.

        items: The items. An item with an invalid field gets INVALID_ARGUMENT as its own result, and the others are routed. A body that cannot be decoded is rejected as a whole: malformed JSON, unknown fields, wrong types, or values that are nested too deeply or too large.
        dry_run: Decides without storing anything.
        """
        return await self._call(ROUTE_BATCH, locals())

    async def get_decision(
        self,
        *,
        decision_id: str,
        call: CallOptions | None = None,
    ) -> Decision:
        """
        Returns a decision, with everything it was made from.

        decision_id: The decision.
        """
        return await self._call(GET_DECISION, locals())

    def list_decisions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str | None = None,
        outcome: str | None = None,
        recipient_id: str | None = None,
        key: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Decision]:
        """
        Lists decisions, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: Only those of this pool.
        outcome: Only those with this outcome.
        recipient_id: Only those for this recipient.
        key: Only those about items with this key.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._list(LIST_DECISIONS, locals())

    async def replay_decision(
        self,
        *,
        decision_id: str,
        call: CallOptions | None = None,
    ) -> Replay:
        """
        Replays a decision from its stored inputs, and says whether the result is identical.

        decision_id: The decision.
        """
        return await self._call(REPLAY_DECISION, locals())

RECORD = Operation("POST", "/api/outcomes", body="*", keyed=True)
GET = Operation("GET", "/api/outcomes/{decision_id}")


class OutcomeService(Service):
    """Outcomes: the results of routed items."""

    def record(
        self,
        *,
        decision_id: str | None = None,
        queue_item_id: str | None = None,
        status: Literal["success", "failure", "timeout", "declined", "cancelled"],
        latency_ms: float | None = None,
        score: float | None = None,
        cost: float | None = None,
        observed_at: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> Outcome:
        """
        Records the outcome of an item. Only the first report counts.

        decision_id: The decision; alternatively the queue item.
        queue_item_id: The queue item; alternatively the decision.
        status: success, failure, timeout, declined or cancelled.
        latency_ms: The duration of the work.
        score: A quality score, as the caller defines it.
        cost: The cost.
        observed_at: When it was observed; the current time when absent.
        """
        return self._call(RECORD, locals())

    def get(
        self,
        *,
        decision_id: str,
        call: CallOptions | None = None,
    ) -> Outcome:
        """
        Returns the outcome of a decision.

        decision_id: The decision.
        """
        return self._call(GET, locals())


class AsyncOutcomeService(AsyncService):
    """Outcomes: the results of routed items."""

    async def record(
        self,
        *,
        decision_id: str | None = None,
        queue_item_id: str | None = None,
        status: Literal["success", "failure", "timeout", "declined", "cancelled"],
        latency_ms: float | None = None,
        score: float | None = None,
        cost: float | None = None,
        observed_at: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> Outcome:
        """
        Records the outcome of an item. Only the first report counts.

        decision_id: The decision; alternatively the queue item.
        queue_item_id: The queue item; alternatively the decision.
        status: success, failure, timeout, declined or cancelled.
        latency_ms: The duration of the work.
        score: A quality score, as the caller defines it.
        cost: The cost.
        observed_at: When it was observed; the current time when absent.
        """
        return await self._call(RECORD, locals())

    async def get(
        self,
        *,
        decision_id: str,
        call: CallOptions | None = None,
    ) -> Outcome:
        """
        Returns the outcome of a decision.

        decision_id: The decision.
        """
        return await self._call(GET, locals())
