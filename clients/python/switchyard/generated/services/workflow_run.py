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
    from ..types.workflow_run import ApplyWorkflowRunUpdateResponse, ChangeWorkflowRunsResponse, ReplayChoice, ReplayWorkflowRunResponse, SignalWorkflowRunByKeyResponse, SignalWorkflowRunResponse, SimulatedWorkflowDecision, SimulatedWorkflowEvent, StartSignal, StartWorkflowRunResponse, WorkflowRun, WorkflowRunAdvance, WorkflowRunExplanation, WorkflowSimulation, WorkflowStepStub

START = Operation("POST", "/api/workflow-runs", body="*", keyed=True)
GET = Operation("GET", "/api/workflow-runs/{run_id}")
LIST = Operation("GET", "/api/workflow-runs", result="cursor")
CANCEL = Operation("POST", "/api/workflow-runs/{run_id}/cancel", body="*", keyed=True)
PAUSE = Operation("POST", "/api/workflow-runs/{run_id}/pause", body="*", keyed=True)
RESUME = Operation("POST", "/api/workflow-runs/{run_id}/resume", body="*", keyed=True)
COMPENSATE = Operation("POST", "/api/workflow-runs/{run_id}/compensate", body="*", keyed=True)
SIGNAL = Operation("POST", "/api/workflow-runs/{run_id}/signal", body="*", keyed=True)
SIGNAL_BY_KEY = Operation("POST", "/api/workflow-runs:signal", body="*", keyed=True)
APPLY_UPDATE = Operation("POST", "/api/workflow-runs/{run_id}/update", body="*", keyed=True)
CHANGE = Operation("POST", "/api/workflow-runs:change", body="*", keyed=True)
REPLAY = Operation("POST", "/api/workflow-runs/{run_id}/replay", body="*", keyed=True)
GET_HISTORY = Operation("GET", "/api/workflow-runs/{run_id}/history", result="cursor")
EXPLAIN = Operation("GET", "/api/workflow-runs/{run_id}/explain")
SIMULATE = Operation("POST", "/api/workflow-runs:simulate", body="*")


class WorkflowRunService(Service):
    """Workflow runs: executions of published workflow definitions."""

    def start(
        self,
        *,
        definition: str,
        version: int | None = None,
        environment_id: str | None = None,
        input: Any | None = None,
        run_key: str | None = None,
        start_at: str | datetime | None = None,
        wait_s: int | None = None,
        signal: StartSignal | None = None,
        attributes: Mapping[str, str] | None = None,
        call: CallOptions | None = None,
    ) -> StartWorkflowRunResponse:
        """
        Starts a run of a published definition. With a run key, at most one run per key is in progress: a start while another one is in progress returns that run.

        definition: The key or the id of the definition.
        version: The version; the active one when 0.
        environment_id: The id or the key of the environment; production when empty.
        input: The input.
        run_key: At most one run per key and definition is in progress.
        start_at: When the run starts; now when absent. At most a year ahead.
        wait_s: Seconds to wait for the end of the run.
        signal: An event for the run. A new run starts with it; a run in progress with the run key gets it.
        attributes: What the run is about, such as a customer, to find it by later. A replay has them too.
        """
        return self._call(START, locals())

    def get(
        self,
        *,
        run_id: str,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Returns one run.

        run_id: The run.
        wait_s: Seconds to wait for the end of the run.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        definition_id: str | None = None,
        status: Literal["", "pending", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "timed_out"] | None = None,
        environment_id: str | None = None,
        run_key: str | None = None,
        parent_run_id: str | None = None,
        attributes: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowRun]:
        """
        Lists runs, the newest first.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        definition_id: Only runs of this definition: its id or its key.
        status: Only runs with this status.
        environment_id: Only runs of this environment: its id or its key.
        run_key: Only runs with this run key.
        parent_run_id: Only runs that this run waits for.
        attributes: Only runs with all of these attributes, each as name=value.
        """
        return self._call(LIST, locals())

    def cancel(
        self,
        *,
        run_id: str,
        reason: str | None = None,
        compensate: bool | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Cancels a run, with its tasks and the runs that it waits for.

        run_id: The run.
        reason: Why.
        compensate: Whether completed steps are compensated first.
        """
        return self._call(CANCEL, locals())

    def pause(
        self,
        *,
        run_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Pauses a run: no further step starts, and results and events that arrive are kept until it is resumed.

        run_id: The run.
        reason: Why.
        """
        return self._call(PAUSE, locals())

    def resume(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Resumes a paused run.

        run_id: The run.
        """
        return self._call(RESUME, locals())

    def compensate(
        self,
        *,
        run_id: str,
        steps: Sequence[str] | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Retries compensations of an ended run that have failed. The run is in progress until they are done, then it ends as before.

        run_id: The run. It must have ended.
        steps: The steps to undo, out of failed_compensations of the run. All of them when empty.
        reason: Why.
        """
        return self._call(COMPENSATE, locals())

    def signal(
        self,
        *,
        run_id: str,
        event: str,
        scope: str | None = None,
        payload: Any | None = None,
        event_id: str | None = None,
        call: CallOptions | None = None,
    ) -> SignalWorkflowRunResponse:
        """
        Sends an event to a run. It is kept until a step waits for it, and consumed by one step.

        run_id: The run.
        event: The name of the event.
        scope: What it is about. Only a wait with the same scope takes it.
        payload: Data for the run, at most 64 KiB as JSON.
        event_id: Identifies the event: another one with the same id is ignored. A new id when empty.
        """
        return self._call(SIGNAL, locals())

    def signal_by_key(
        self,
        *,
        definition: str,
        environment_id: str | None = None,
        run_key: str,
        event: str,
        scope: str | None = None,
        payload: Any | None = None,
        event_id: str | None = None,
        call: CallOptions | None = None,
    ) -> SignalWorkflowRunByKeyResponse:
        """
        Sends an event to the run in progress with a run key, for a caller that does not know the id of the run.

        definition: The key or the id of the definition.
        environment_id: The id or the key of the environment; production when empty.
        run_key: The run key of a run that has not ended.
        event: The name of the event.
        scope: What it is about. Only a wait with the same scope takes it.
        payload: Data for the run, at most 64 KiB as JSON.
        event_id: Identifies the event: another one with the same id for the same run is ignored. A new id when empty.
        """
        return self._call(SIGNAL_BY_KEY, locals())

    def apply_update(
        self,
        *,
        run_id: str,
        name: str,
        scope: str | None = None,
        payload: Any | None = None,
        update_id: str | None = None,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> ApplyWorkflowRunUpdateResponse:
        """
        Updates a run: a step that waits for this update checks the payload, takes it, and answers with a value. An update that is refused changes nothing.

        run_id: The run.
        name: The name of the update: the event of a wait with an update.
        scope: What it is about. Only a wait with the same scope takes it.
        payload: Data for the run, at most 64 KiB as JSON. It must match the input_schema of the update.
        update_id: Identifies the update: another one with the same id waits for the answer of the first. A new id when empty.
        wait_s: Seconds to wait until a step takes the update, and for its answer.
        """
        return self._call(APPLY_UPDATE, locals())

    def change(
        self,
        *,
        action: Literal["cancel", "pause", "resume", "signal", "replay"],
        definition_id: str | None = None,
        environment_id: str | None = None,
        status: Literal["", "pending", "running", "waiting", "paused", "failed", "timed_out"] | None = None,
        version: int | None = None,
        created_before: str | datetime | None = None,
        reason: str | None = None,
        compensate: bool | None = None,
        signal: StartSignal | None = None,
        max_items: int | None = None,
        after: str | None = None,
        attributes: Sequence[str] | None = None,
        replay: ReplayChoice | None = None,
        call: CallOptions | None = None,
    ) -> ChangeWorkflowRunsResponse:
        """
        Cancels, pauses or resumes the runs in progress that match, or sends each an event; or replays the runs that failed and match. The oldest come first, up to 500 in a call.

        action: What happens to them: cancel, pause, resume, signal or replay.
        definition_id: Only runs of this definition: its id or its key.
        environment_id: Only runs of this environment: its id or its key.
        status: Only runs with this status: failed or timed_out for replay, and one of a run in progress otherwise.
        version: Only runs of this version of the definition; any when 0. Needs definition_id.
        created_before: Only runs that were created before.
        reason: Why, for cancel, pause and replay.
        compensate: For cancel: whether completed steps are compensated first.
        signal: For signal: the event. Each run gets it once for each event_id.
        max_items: The maximum number of runs; 100 when 0.
        after: The position of the previous response; empty for the first call.
        attributes: Only runs with all of these attributes, each as name=value.
        replay: For replay: how each run is replayed. A run is replayed if its dead letter is open, at most three times.
        """
        return self._call(CHANGE, locals())

    def replay(
        self,
        *,
        run_id: str,
        from_step: str | None = None,
        version: int | None = None,
        input: Any | None = None,
        values: Mapping[str, Any] | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
        call: CallOptions | None = None,
    ) -> ReplayWorkflowRunResponse:
        """
        Replays an ended run: starts a new run that holds the outputs of the steps before from_step and continues there. Steps that completed before are never executed again, also on a newer version of the definition. In other branches and elements, completed steps stay completed, and the rest continues where it stopped.

        run_id: The run. It must have ended.
        from_step: The step to continue at, with its positions in the maps around it, such as ocr[3]. Absent: the step that failed, or where the run stopped if no step failed; if steps before it were compensated, the first of those. Empty or start: the beginning.
        version: The version of the definition: the run's own when 0, the active one when -1. Never older than the run's own.
        input: Replaces the input. Absent: the input of the run.
        values: Replaces outputs of steps before from_step, by step. May also give outputs of steps that never completed.
        reason: Why.
        dry_run: Only returns the plan.
        """
        return self._call(REPLAY, locals())

    def get_history(
        self,
        *,
        run_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowRunAdvance]:
        """
        Returns what happened in a run, in order.

        run_id: The run.
        limit: The page size, in advances: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of advances to skip.
        """
        return self._call(GET_HISTORY, locals())

    def explain(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowRunExplanation:
        """
        Explains why a run is where it is, and what would move it.

        run_id: The run.
        """
        return self._call(EXPLAIN, locals())

    def simulate(
        self,
        *,
        definition: str | None = None,
        version: int | None = None,
        document: Mapping[str, Any] | None = None,
        environment_id: str | None = None,
        input: Any | None = None,
        stubs: Mapping[str, WorkflowStepStub] | None = None,
        events: Sequence[SimulatedWorkflowEvent] | None = None,
        decisions: Sequence[SimulatedWorkflowDecision] | None = None,
        max_time_s: float | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowSimulation:
        """
        Executes a definition on a virtual clock, with given results of its steps. Nothing is stored, and no effect is performed.

        definition: The key or the id of a published definition. Either this or a document is required.
        version: The version; the active one when 0.
        document: A document of the workflow language, such as a draft. The pools, workflows and definitions that it names need not exist.
        environment_id: The id or the key of the environment; production when empty.
        input: The input.
        stubs: The results of task, route, notify, action and subworkflow steps, by step id, or by step for one element of a map, such as ocr[3]. The name of a compensation starts with a tilde. A step without a stub outputs {} immediately.
        events: The events that are sent to the run.
        decisions: The decisions on approvals.
        max_time_s: Stops the simulation after this virtual time. When 0, it continues to the end of the run.
        """
        return self._call(SIMULATE, locals())


class AsyncWorkflowRunService(AsyncService):
    """Workflow runs: executions of published workflow definitions."""

    async def start(
        self,
        *,
        definition: str,
        version: int | None = None,
        environment_id: str | None = None,
        input: Any | None = None,
        run_key: str | None = None,
        start_at: str | datetime | None = None,
        wait_s: int | None = None,
        signal: StartSignal | None = None,
        attributes: Mapping[str, str] | None = None,
        call: CallOptions | None = None,
    ) -> StartWorkflowRunResponse:
        """
        Starts a run of a published definition. With a run key, at most one run per key is in progress: a start while another one is in progress returns that run.

        definition: The key or the id of the definition.
        version: The version; the active one when 0.
        environment_id: The id or the key of the environment; production when empty.
        input: The input.
        run_key: At most one run per key and definition is in progress.
        start_at: When the run starts; now when absent. At most a year ahead.
        wait_s: Seconds to wait for the end of the run.
        signal: An event for the run. A new run starts with it; a run in progress with the run key gets it.
        attributes: What the run is about, such as a customer, to find it by later. A replay has them too.
        """
        return await self._call(START, locals())

    async def get(
        self,
        *,
        run_id: str,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Returns one run.

        run_id: The run.
        wait_s: Seconds to wait for the end of the run.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        definition_id: str | None = None,
        status: Literal["", "pending", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "timed_out"] | None = None,
        environment_id: str | None = None,
        run_key: str | None = None,
        parent_run_id: str | None = None,
        attributes: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowRun]:
        """
        Lists runs, the newest first.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        definition_id: Only runs of this definition: its id or its key.
        status: Only runs with this status.
        environment_id: Only runs of this environment: its id or its key.
        run_key: Only runs with this run key.
        parent_run_id: Only runs that this run waits for.
        attributes: Only runs with all of these attributes, each as name=value.
        """
        return self._list(LIST, locals())

    async def cancel(
        self,
        *,
        run_id: str,
        reason: str | None = None,
        compensate: bool | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Cancels a run, with its tasks and the runs that it waits for.

        run_id: The run.
        reason: Why.
        compensate: Whether completed steps are compensated first.
        """
        return await self._call(CANCEL, locals())

    async def pause(
        self,
        *,
        run_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Pauses a run: no further step starts, and results and events that arrive are kept until it is resumed.

        run_id: The run.
        reason: Why.
        """
        return await self._call(PAUSE, locals())

    async def resume(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Resumes a paused run.

        run_id: The run.
        """
        return await self._call(RESUME, locals())

    async def compensate(
        self,
        *,
        run_id: str,
        steps: Sequence[str] | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Retries compensations of an ended run that have failed. The run is in progress until they are done, then it ends as before.

        run_id: The run. It must have ended.
        steps: The steps to undo, out of failed_compensations of the run. All of them when empty.
        reason: Why.
        """
        return await self._call(COMPENSATE, locals())

    async def signal(
        self,
        *,
        run_id: str,
        event: str,
        scope: str | None = None,
        payload: Any | None = None,
        event_id: str | None = None,
        call: CallOptions | None = None,
    ) -> SignalWorkflowRunResponse:
        """
        Sends an event to a run. It is kept until a step waits for it, and consumed by one step.

        run_id: The run.
        event: The name of the event.
        scope: What it is about. Only a wait with the same scope takes it.
        payload: Data for the run, at most 64 KiB as JSON.
        event_id: Identifies the event: another one with the same id is ignored. A new id when empty.
        """
        return await self._call(SIGNAL, locals())

    async def signal_by_key(
        self,
        *,
        definition: str,
        environment_id: str | None = None,
        run_key: str,
        event: str,
        scope: str | None = None,
        payload: Any | None = None,
        event_id: str | None = None,
        call: CallOptions | None = None,
    ) -> SignalWorkflowRunByKeyResponse:
        """
        Sends an event to the run in progress with a run key, for a caller that does not know the id of the run.

        definition: The key or the id of the definition.
        environment_id: The id or the key of the environment; production when empty.
        run_key: The run key of a run that has not ended.
        event: The name of the event.
        scope: What it is about. Only a wait with the same scope takes it.
        payload: Data for the run, at most 64 KiB as JSON.
        event_id: Identifies the event: another one with the same id for the same run is ignored. A new id when empty.
        """
        return await self._call(SIGNAL_BY_KEY, locals())

    async def apply_update(
        self,
        *,
        run_id: str,
        name: str,
        scope: str | None = None,
        payload: Any | None = None,
        update_id: str | None = None,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> ApplyWorkflowRunUpdateResponse:
        """
        Updates a run: a step that waits for this update checks the payload, takes it, and answers with a value. An update that is refused changes nothing.

        run_id: The run.
        name: The name of the update: the event of a wait with an update.
        scope: What it is about. Only a wait with the same scope takes it.
        payload: Data for the run, at most 64 KiB as JSON. It must match the input_schema of the update.
        update_id: Identifies the update: another one with the same id waits for the answer of the first. A new id when empty.
        wait_s: Seconds to wait until a step takes the update, and for its answer.
        """
        return await self._call(APPLY_UPDATE, locals())

    async def change(
        self,
        *,
        action: Literal["cancel", "pause", "resume", "signal", "replay"],
        definition_id: str | None = None,
        environment_id: str | None = None,
        status: Literal["", "pending", "running", "waiting", "paused", "failed", "timed_out"] | None = None,
        version: int | None = None,
        created_before: str | datetime | None = None,
        reason: str | None = None,
        compensate: bool | None = None,
        signal: StartSignal | None = None,
        max_items: int | None = None,
        after: str | None = None,
        attributes: Sequence[str] | None = None,
        replay: ReplayChoice | None = None,
        call: CallOptions | None = None,
    ) -> ChangeWorkflowRunsResponse:
        """
        Cancels, pauses or resumes the runs in progress that match, or sends each an event; or replays the runs that failed and match. The oldest come first, up to 500 in a call.

        action: What happens to them: cancel, pause, resume, signal or replay.
        definition_id: Only runs of this definition: its id or its key.
        environment_id: Only runs of this environment: its id or its key.
        status: Only runs with this status: failed or timed_out for replay, and one of a run in progress otherwise.
        version: Only runs of this version of the definition; any when 0. Needs definition_id.
        created_before: Only runs that were created before.
        reason: Why, for cancel, pause and replay.
        compensate: For cancel: whether completed steps are compensated first.
        signal: For signal: the event. Each run gets it once for each event_id.
        max_items: The maximum number of runs; 100 when 0.
        after: The position of the previous response; empty for the first call.
        attributes: Only runs with all of these attributes, each as name=value.
        replay: For replay: how each run is replayed. A run is replayed if its dead letter is open, at most three times.
        """
        return await self._call(CHANGE, locals())

    async def replay(
        self,
        *,
        run_id: str,
        from_step: str | None = None,
        version: int | None = None,
        input: Any | None = None,
        values: Mapping[str, Any] | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
        call: CallOptions | None = None,
    ) -> ReplayWorkflowRunResponse:
        """
        Replays an ended run: starts a new run that holds the outputs of the steps before from_step and continues there. Steps that completed before are never executed again, also on a newer version of the definition. In other branches and elements, completed steps stay completed, and the rest continues where it stopped.

        run_id: The run. It must have ended.
        from_step: The step to continue at, with its positions in the maps around it, such as ocr[3]. Absent: the step that failed, or where the run stopped if no step failed; if steps before it were compensated, the first of those. Empty or start: the beginning.
        version: The version of the definition: the run's own when 0, the active one when -1. Never older than the run's own.
        input: Replaces the input. Absent: the input of the run.
        values: Replaces outputs of steps before from_step, by step. May also give outputs of steps that never completed.
        reason: Why.
        dry_run: Only returns the plan.
        """
        return await self._call(REPLAY, locals())

    def get_history(
        self,
        *,
        run_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowRunAdvance]:
        """
        Returns what happened in a run, in order.

        run_id: The run.
        limit: The page size, in advances: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of advances to skip.
        """
        return self._list(GET_HISTORY, locals())

    async def explain(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowRunExplanation:
        """
        Explains why a run is where it is, and what would move it.

        run_id: The run.
        """
        return await self._call(EXPLAIN, locals())

    async def simulate(
        self,
        *,
        definition: str | None = None,
        version: int | None = None,
        document: Mapping[str, Any] | None = None,
        environment_id: str | None = None,
        input: Any | None = None,
        stubs: Mapping[str, WorkflowStepStub] | None = None,
        events: Sequence[SimulatedWorkflowEvent] | None = None,
        decisions: Sequence[SimulatedWorkflowDecision] | None = None,
        max_time_s: float | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowSimulation:
        """
        Executes a definition on a virtual clock, with given results of its steps. Nothing is stored, and no effect is performed.

        definition: The key or the id of a published definition. Either this or a document is required.
        version: The version; the active one when 0.
        document: A document of the workflow language, such as a draft. The pools, workflows and definitions that it names need not exist.
        environment_id: The id or the key of the environment; production when empty.
        input: The input.
        stubs: The results of task, route, notify, action and subworkflow steps, by step id, or by step for one element of a map, such as ocr[3]. The name of a compensation starts with a tilde. A step without a stub outputs {} immediately.
        events: The events that are sent to the run.
        decisions: The decisions on approvals.
        max_time_s: Stops the simulation after this virtual time. When 0, it continues to the end of the run.
        """
        return await self._call(SIMULATE, locals())
