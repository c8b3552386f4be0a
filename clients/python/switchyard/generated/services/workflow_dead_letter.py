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
    from ..types.workflow_dead_letter import ReplayAllWorkflowDeadLettersResponse, ReplayWorkflowDeadLetterResponse, WorkflowDeadLetter, WorkflowDeadLetterStats

LIST = Operation("GET", "/api/workflow-dlq", result="cursor")
GET = Operation("GET", "/api/workflow-dlq/{run_id}")
GET_STATS = Operation("GET", "/api/workflow-dlq:stats")
REPLAY = Operation("POST", "/api/workflow-dlq/{run_id}/replay", body="*", keyed=True)
REPLAY_ALL = Operation("POST", "/api/workflow-dlq:replay-all", body="*", keyed=True)
QUARANTINE = Operation("POST", "/api/workflow-dlq/{run_id}/quarantine", body="*", keyed=True)
RELEASE = Operation("POST", "/api/workflow-dlq/{run_id}/release", body="*", keyed=True)
DISCARD = Operation("POST", "/api/workflow-dlq/{run_id}/discard", body="*", keyed=True)


class WorkflowDeadLetterService(Service):
    """Dead letters of workflow runs: runs that failed or timed out, until somebody replays or discards them."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        state: Literal["", "open", "replayed", "quarantined", "discarded"] | None = None,
        definition_id: str | None = None,
        environment_id: str | None = None,
        error_code: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowDeadLetter]:
        """
        Lists dead letters, the newest first.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        state: Only those in this state; open when empty.
        definition_id: Only those of this definition: its id or its key.
        environment_id: Only those of this environment: its id or its key.
        error_code: Only those with this error code.
        """
        return self._call(LIST, locals())

    def get(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetter:
        """
        Returns one dead letter.

        run_id: The run that failed first.
        """
        return self._call(GET, locals())

    def get_stats(
        self,
        *,
        definition_id: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetterStats:
        """
        Counts dead letters.

        definition_id: Only those of this definition: its id or its key.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(GET_STATS, locals())

    def replay(
        self,
        *,
        run_id: str,
        from_step: str | None = None,
        version: int | None = None,
        input: Any | None = None,
        values: Mapping[str, Any] | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> ReplayWorkflowDeadLetterResponse:
        """
        Replays the run of a dead letter, from the step that failed by default. At most max_replays times. A replay that fails opens the same dead letter again.

        run_id: The run that failed first.
        from_step: The step to continue at, as for a run.
        version: The version of the definition: the run's own when 0, the active one when -1. Never older than the run's own.
        input: Replaces the input. Absent: the input of the run.
        values: Replaces outputs of steps before from_step, by step.
        reason: Why.
        """
        return self._call(REPLAY, locals())

    def replay_all(
        self,
        *,
        definition_id: str | None = None,
        environment_id: str | None = None,
        error_code: str | None = None,
        version: int | None = None,
        from_: Literal["", "failed_step", "start"] | None = None,
        max_items: int | None = None,
        after: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> ReplayAllWorkflowDeadLettersResponse:
        """
        Replays the runs of the open dead letters that match, the oldest first. Quarantined ones and those that have reached their maximum are left out. One call handles at most max_items: repeat it with the returned position until that is empty.

        definition_id: Only those of this definition: its id or its key.
        environment_id: Only those of this environment: its id or its key.
        error_code: Only those with this error code.
        version: The version of the definition: that of each run when 0, the active one when -1. Any but 0 needs definition_id.
        from_: Where each replay continues: failed_step (the default) or start.
        max_items: The maximum number of dead letters; 100 when 0.
        after: The position of the previous response; empty for the first call.
        reason: Why.
        """
        return self._call(REPLAY_ALL, locals())

    def quarantine(
        self,
        *,
        run_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetter:
        """
        Quarantines a dead letter: nothing replays it until it is released.

        run_id: The run that failed first.
        reason: Why.
        """
        return self._call(QUARANTINE, locals())

    def release(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetter:
        """
        Releases a dead letter from quarantine.

        run_id: The run that failed first.
        """
        return self._call(RELEASE, locals())

    def discard(
        self,
        *,
        run_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetter:
        """
        Discards a dead letter for good. Its run can still be read, and replayed as a run, until its retention ends.

        run_id: The run that failed first.
        reason: Why.
        """
        return self._call(DISCARD, locals())


class AsyncWorkflowDeadLetterService(AsyncService):
    """Dead letters of workflow runs: runs that failed or timed out, until somebody replays or discards them."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        state: Literal["", "open", "replayed", "quarantined", "discarded"] | None = None,
        definition_id: str | None = None,
        environment_id: str | None = None,
        error_code: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowDeadLetter]:
        """
        Lists dead letters, the newest first.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        state: Only those in this state; open when empty.
        definition_id: Only those of this definition: its id or its key.
        environment_id: Only those of this environment: its id or its key.
        error_code: Only those with this error code.
        """
        return self._list(LIST, locals())

    async def get(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetter:
        """
        Returns one dead letter.

        run_id: The run that failed first.
        """
        return await self._call(GET, locals())

    async def get_stats(
        self,
        *,
        definition_id: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetterStats:
        """
        Counts dead letters.

        definition_id: Only those of this definition: its id or its key.
        environment_id: Only those of this environment: its id or its key.
        """
        return await self._call(GET_STATS, locals())

    async def replay(
        self,
        *,
        run_id: str,
        from_step: str | None = None,
        version: int | None = None,
        input: Any | None = None,
        values: Mapping[str, Any] | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> ReplayWorkflowDeadLetterResponse:
        """
        Replays the run of a dead letter, from the step that failed by default. At most max_replays times. A replay that fails opens the same dead letter again.

        run_id: The run that failed first.
        from_step: The step to continue at, as for a run.
        version: The version of the definition: the run's own when 0, the active one when -1. Never older than the run's own.
        input: Replaces the input. Absent: the input of the run.
        values: Replaces outputs of steps before from_step, by step.
        reason: Why.
        """
        return await self._call(REPLAY, locals())

    async def replay_all(
        self,
        *,
        definition_id: str | None = None,
        environment_id: str | None = None,
        error_code: str | None = None,
        version: int | None = None,
        from_: Literal["", "failed_step", "start"] | None = None,
        max_items: int | None = None,
        after: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> ReplayAllWorkflowDeadLettersResponse:
        """
        Replays the runs of the open dead letters that match, the oldest first. Quarantined ones and those that have reached their maximum are left out. One call handles at most max_items: repeat it with the returned position until that is empty.

        definition_id: Only those of this definition: its id or its key.
        environment_id: Only those of this environment: its id or its key.
        error_code: Only those with this error code.
        version: The version of the definition: that of each run when 0, the active one when -1. Any but 0 needs definition_id.
        from_: Where each replay continues: failed_step (the default) or start.
        max_items: The maximum number of dead letters; 100 when 0.
        after: The position of the previous response; empty for the first call.
        reason: Why.
        """
        return await self._call(REPLAY_ALL, locals())

    async def quarantine(
        self,
        *,
        run_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetter:
        """
        Quarantines a dead letter: nothing replays it until it is released.

        run_id: The run that failed first.
        reason: Why.
        """
        return await self._call(QUARANTINE, locals())

    async def release(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetter:
        """
        Releases a dead letter from quarantine.

        run_id: The run that failed first.
        """
        return await self._call(RELEASE, locals())

    async def discard(
        self,
        *,
        run_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDeadLetter:
        """
        Discards a dead letter for good. Its run can still be read, and replayed as a run, until its retention ends.

        run_id: The run that failed first.
        reason: Why.
        """
        return await self._call(DISCARD, locals())
