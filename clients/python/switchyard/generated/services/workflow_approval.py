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
    from ..types.workflow_approval import WorkflowApproval
    from ..types.workflow_run import WorkflowRun

LIST = Operation("GET", "/api/workflow-approvals", result="cursor")
DECIDE = Operation("POST", "/api/workflow-runs/{run_id}/approvals/{step}/decide", body="*", keyed=True)


class WorkflowApprovalService(Service):
    """Approvals that workflow runs wait for."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        mine: bool | None = None,
        definition: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowApproval]:
        """
        Lists open approvals, the oldest first. An approval is listed from the moment its step starts until the step ends: by a decision, by its time-out, or with the run.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        mine: Only those that the caller can decide: they name the caller or one of its roles, and the caller has not decided yet.
        definition: Only those of this definition: its key or its id.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(LIST, locals())

    def decide(
        self,
        *,
        run_id: str,
        step: str,
        approved: bool,
        comment: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Approves or rejects an approval step of a run.

        run_id: The run.
        step: The approval step, as active_steps names it.
        approved: Whether the caller approves. Required, so that nobody rejects by mistake: false rejects finally.
        comment: A comment.
        """
        return self._call(DECIDE, locals())


class AsyncWorkflowApprovalService(AsyncService):
    """Approvals that workflow runs wait for."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        mine: bool | None = None,
        definition: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowApproval]:
        """
        Lists open approvals, the oldest first. An approval is listed from the moment its step starts until the step ends: by a decision, by its time-out, or with the run.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        mine: Only those that the caller can decide: they name the caller or one of its roles, and the caller has not decided yet.
        definition: Only those of this definition: its key or its id.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._list(LIST, locals())

    async def decide(
        self,
        *,
        run_id: str,
        step: str,
        approved: bool,
        comment: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowRun:
        """
        Approves or rejects an approval step of a run.

        run_id: The run.
        step: The approval step, as active_steps names it.
        approved: Whether the caller approves. Required, so that nobody rejects by mistake: false rejects finally.
        comment: A comment.
        """
        return await self._call(DECIDE, locals())
