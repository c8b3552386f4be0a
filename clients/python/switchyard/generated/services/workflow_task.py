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
    from ..types.workflow_task import CompleteWorkflowTasksResponse, FailWorkflowTasksResponse, HeartbeatWorkflowTasksResponse, PollWorkflowTasksRequest, PollWorkflowTasksResponse, ReleaseWorkflowTasksResponse, WorkflowCapabilityInput, WorkflowQueue, WorkflowTask, WorkflowTaskCompletion, WorkflowTaskFailure, WorkflowTaskHeartbeat, WorkflowTaskLease

POLL = Operation("POST", "/api/workflow-tasks:poll", body="*", keyed=True)
HEARTBEAT = Operation("POST", "/api/workflow-tasks:heartbeat", body="*", keyed=True)
COMPLETE = Operation("POST", "/api/workflow-tasks:complete", body="*", keyed=True)
FAIL = Operation("POST", "/api/workflow-tasks:fail", body="*", keyed=True)
RELEASE = Operation("POST", "/api/workflow-tasks:release", body="*", keyed=True)
LIST = Operation("GET", "/api/workflow-tasks", result="cursor")
GET = Operation("GET", "/api/workflow-tasks/{task_id}")
LIST_WORKFLOW_QUEUES = Operation("GET", "/api/workflow-queues", result="cursor")


class WorkflowTaskService(Service):
    """Workflow tasks: how external workers run the tasks of workflow runs."""

    def poll(
        self,
        *,
        environment_id: str | None = None,
        queue: str,
        worker_id: str,
        build_id: str | None = None,
        protocol: int | None = None,
        capabilities: Sequence[WorkflowCapabilityInput],
        slots: int | None = None,
        wait_s: int | None = None,
        sticky_runs: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> PollWorkflowTasksResponse:
        """
        Leases tasks that the worker can run, oldest first; if there are none, the call waits for tasks. A task that was leased for a caller that disconnected is ready again at once, and the attempt is not counted.

        environment_id: The id or the key of the environment; production when empty.
        queue: The queue of the tasks.
        worker_id: The worker's name, unique in its queue.
        build_id: The build of the worker's code, for example a commit. Workers of one build can run the same tasks.
        protocol: The version of this protocol; 1 when 0.
        capabilities: The tasks that the worker can run.
        slots: The most tasks to lease; 1 when 0. Large tasks are fewer: a response ends at about 2 MiB, and the rest stays ready.
        wait_s: Seconds to wait for tasks if there are none.
        sticky_runs: Runs whose tasks the worker prefers, for example because it holds their data. It gets tasks of other runs as well.
        """
        return self._call(POLL, locals())

    def heartbeat(
        self,
        *,
        tasks: Sequence[WorkflowTaskHeartbeat],
        call: CallOptions | None = None,
    ) -> HeartbeatWorkflowTasksResponse:
        """
        Reports that the worker still runs tasks, and extends their leases. Each task has its own result, in order. Details are stored and given to the next attempt.

        tasks: The tasks. An entry with an invalid field gets INVALID_ARGUMENT as its own result.
        """
        return self._call(HEARTBEAT, locals())

    def complete(
        self,
        *,
        completions: Sequence[WorkflowTaskCompletion],
        poll: PollWorkflowTasksRequest | None = None,
        call: CallOptions | None = None,
    ) -> CompleteWorkflowTasksResponse:
        """
        Completes attempts with their outputs, and optionally leases the next tasks in the same call. Each completion has its own result, in order; all of them are applied before the call waits for tasks.

        completions: The completed attempts. An entry with an invalid field gets INVALID_ARGUMENT as its own result.
        poll: Leases the next tasks in this call; nothing is leased when absent.
        """
        return self._call(COMPLETE, locals())

    def fail(
        self,
        *,
        failures: Sequence[WorkflowTaskFailure],
        call: CallOptions | None = None,
    ) -> FailWorkflowTasksResponse:
        """
        Reports failed attempts; each has its own result, in order. The step is retried by its policy. An attempt that fails with the code incompatible is not counted: the task waits for a worker of another build.

        failures: The failed attempts. An entry with an invalid field gets INVALID_ARGUMENT as its own result.
        """
        return self._call(FAIL, locals())

    def release(
        self,
        *,
        tasks: Sequence[WorkflowTaskLease],
        call: CallOptions | None = None,
    ) -> ReleaseWorkflowTasksResponse:
        """
        Gives leased tasks back, so that other workers get them at once. The attempts are not counted. For a worker that stops.

        tasks: The tasks. An entry with an invalid field gets INVALID_ARGUMENT as its own result.
        """
        return self._call(RELEASE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        queue: str | None = None,
        state: Literal["", "ready", "leased", "incompatible", "held"] | None = None,
        run_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowTask]:
        """
        Lists the tasks that have not ended, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only tasks of this environment: its id or its key.
        queue: Only tasks of this queue.
        state: Only tasks in this state.
        run_id: Only tasks of this run.
        """
        return self._call(LIST, locals())

    def get(
        self,
        *,
        task_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowTask:
        """
        Returns one task with its input.

        task_id: The task's id.
        """
        return self._call(GET, locals())

    def list_workflow_queues(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        queue: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowQueue]:
        """
        Lists the queues that have tasks or workers, with the reason why ready tasks wait.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only queues of this environment: its id or its key.
        queue: Only this queue.
        """
        return self._call(LIST_WORKFLOW_QUEUES, locals())


class AsyncWorkflowTaskService(AsyncService):
    """Workflow tasks: how external workers run the tasks of workflow runs."""

    async def poll(
        self,
        *,
        environment_id: str | None = None,
        queue: str,
        worker_id: str,
        build_id: str | None = None,
        protocol: int | None = None,
        capabilities: Sequence[WorkflowCapabilityInput],
        slots: int | None = None,
        wait_s: int | None = None,
        sticky_runs: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> PollWorkflowTasksResponse:
        """
        Leases tasks that the worker can run, oldest first; if there are none, the call waits for tasks. A task that was leased for a caller that disconnected is ready again at once, and the attempt is not counted.

        environment_id: The id or the key of the environment; production when empty.
        queue: The queue of the tasks.
        worker_id: The worker's name, unique in its queue.
        build_id: The build of the worker's code, for example a commit. Workers of one build can run the same tasks.
        protocol: The version of this protocol; 1 when 0.
        capabilities: The tasks that the worker can run.
        slots: The most tasks to lease; 1 when 0. Large tasks are fewer: a response ends at about 2 MiB, and the rest stays ready.
        wait_s: Seconds to wait for tasks if there are none.
        sticky_runs: Runs whose tasks the worker prefers, for example because it holds their data. It gets tasks of other runs as well.
        """
        return await self._call(POLL, locals())

    async def heartbeat(
        self,
        *,
        tasks: Sequence[WorkflowTaskHeartbeat],
        call: CallOptions | None = None,
    ) -> HeartbeatWorkflowTasksResponse:
        """
        Reports that the worker still runs tasks, and extends their leases. Each task has its own result, in order. Details are stored and given to the next attempt.

        tasks: The tasks. An entry with an invalid field gets INVALID_ARGUMENT as its own result.
        """
        return await self._call(HEARTBEAT, locals())

    async def complete(
        self,
        *,
        completions: Sequence[WorkflowTaskCompletion],
        poll: PollWorkflowTasksRequest | None = None,
        call: CallOptions | None = None,
    ) -> CompleteWorkflowTasksResponse:
        """
        Completes attempts with their outputs, and optionally leases the next tasks in the same call. Each completion has its own result, in order; all of them are applied before the call waits for tasks.

        completions: The completed attempts. An entry with an invalid field gets INVALID_ARGUMENT as its own result.
        poll: Leases the next tasks in this call; nothing is leased when absent.
        """
        return await self._call(COMPLETE, locals())

    async def fail(
        self,
        *,
        failures: Sequence[WorkflowTaskFailure],
        call: CallOptions | None = None,
    ) -> FailWorkflowTasksResponse:
        """
        Reports failed attempts; each has its own result, in order. The step is retried by its policy. An attempt that fails with the code incompatible is not counted: the task waits for a worker of another build.

        failures: The failed attempts. An entry with an invalid field gets INVALID_ARGUMENT as its own result.
        """
        return await self._call(FAIL, locals())

    async def release(
        self,
        *,
        tasks: Sequence[WorkflowTaskLease],
        call: CallOptions | None = None,
    ) -> ReleaseWorkflowTasksResponse:
        """
        Gives leased tasks back, so that other workers get them at once. The attempts are not counted. For a worker that stops.

        tasks: The tasks. An entry with an invalid field gets INVALID_ARGUMENT as its own result.
        """
        return await self._call(RELEASE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        queue: str | None = None,
        state: Literal["", "ready", "leased", "incompatible", "held"] | None = None,
        run_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowTask]:
        """
        Lists the tasks that have not ended, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only tasks of this environment: its id or its key.
        queue: Only tasks of this queue.
        state: Only tasks in this state.
        run_id: Only tasks of this run.
        """
        return self._list(LIST, locals())

    async def get(
        self,
        *,
        task_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowTask:
        """
        Returns one task with its input.

        task_id: The task's id.
        """
        return await self._call(GET, locals())

    def list_workflow_queues(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        queue: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowQueue]:
        """
        Lists the queues that have tasks or workers, with the reason why ready tasks wait.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only queues of this environment: its id or its key.
        queue: Only this queue.
        """
        return self._list(LIST_WORKFLOW_QUEUES, locals())
