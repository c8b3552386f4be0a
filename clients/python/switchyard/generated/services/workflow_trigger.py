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
    from ..types.workflow_trigger import FireWorkflowTriggerResponse, PreviewWorkflowTriggerResponse, WorkflowEventFilterInput, WorkflowScheduleInput, WorkflowTrigger, WorkflowTriggerEvent

CREATE = Operation("POST", "/api/workflow-triggers", body="*", keyed=True)
GET = Operation("GET", "/api/workflow-triggers/{trigger_id}")
LIST = Operation("GET", "/api/workflow-triggers", result="cursor")
UPDATE = Operation("PATCH", "/api/workflow-triggers/{trigger_id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/workflow-triggers/{trigger_id}", keyed=True)
FIRE = Operation("POST", "/api/workflow-triggers/{trigger_id}:fire", body="*", keyed=True)
PREVIEW = Operation("POST", "/api/workflow-triggers:preview", body="*")


class WorkflowTriggerService(Service):
    """Workflow triggers: what starts runs without a call, at the times of a schedule or for events of the log."""

    def create(
        self,
        *,
        name: str,
        definition: str,
        version: int | None = None,
        environment_id: str | None = None,
        enabled: bool | None = None,
        schedule: WorkflowScheduleInput | None = None,
        event: WorkflowEventFilterInput | None = None,
        input: Any | None = None,
        run_key: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowTrigger:
        """
        Creates a trigger. A schedule starts runs from now on, an event trigger for events from now on.

        name: The name, unique in the environment.
        definition: The key or the id of the definition. It need not be published yet.
        version: The version; 0 for the version that is active when a run starts.
        environment_id: The id or the key of the environment; production when empty.
        enabled: Whether it starts runs; default true.
        schedule: The times at which runs start.
        event: The events for which runs start.
        input: The input of the runs: a template that may use schedule.time, or event; null when absent.
        run_key: The run key: a template like the input.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        trigger_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowTrigger:
        """
        Returns one trigger.

        trigger_id: The trigger's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        definition: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowTrigger]:
        """
        Lists the triggers of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only triggers of this environment: its id or its key.
        definition: Only triggers of this definition: its key or its id, whichever the trigger was given.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        trigger_id: str,
        name: str | None = None,
        definition: str | None = None,
        version: int | None = None,
        enabled: bool | None = None,
        schedule: WorkflowScheduleInput | None = None,
        event: WorkflowEventFilterInput | None = None,
        input: Any | None = None,
        run_key: str | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowTrigger:
        """
        Changes the fields that are present. A trigger that is enabled again starts runs from then on.

        trigger_id: The trigger's id.
        name: The name.
        definition: The key or the id of the definition.
        version: The version; 0 for the active one.
        enabled: Whether it starts runs.
        schedule: Replaces the schedule. An event trigger cannot become a schedule.
        event: Replaces the events. A schedule cannot become an event trigger.
        input: The template of the input.
        run_key: The template of the run key.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        trigger_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowTrigger:
        """
        Deletes a trigger. Runs that it started go on.

        trigger_id: The trigger's id.
        """
        return self._call(DELETE, locals())

    def fire(
        self,
        *,
        trigger_id: str,
        event: WorkflowTriggerEvent | None = None,
        call: CallOptions | None = None,
    ) -> FireWorkflowTriggerResponse:
        """
        Starts a run now, whether the trigger is enabled or not, and whatever its overlap policy and condition are.

        trigger_id: The trigger's id.
        event: The event for the templates of an event trigger. Required if they use it.
        """
        return self._call(FIRE, locals())

    def preview(
        self,
        *,
        schedule: WorkflowScheduleInput | None = None,
        event: WorkflowEventFilterInput | None = None,
        sample: WorkflowTriggerEvent | None = None,
        input: Any | None = None,
        run_key: str | None = None,
        after: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> PreviewWorkflowTriggerResponse:
        """
        Shows the next ten times of a schedule, or whether an event would start a run, and with which input. Nothing is stored and no run starts.

        schedule: The times.
        event: The events.
        sample: The event to try. Required for an event trigger.
        input: The template of the input.
        run_key: The template of the run key.
        after: The time after which the times of a schedule are shown; now when absent.
        """
        return self._call(PREVIEW, locals())


class AsyncWorkflowTriggerService(AsyncService):
    """Workflow triggers: what starts runs without a call, at the times of a schedule or for events of the log."""

    async def create(
        self,
        *,
        name: str,
        definition: str,
        version: int | None = None,
        environment_id: str | None = None,
        enabled: bool | None = None,
        schedule: WorkflowScheduleInput | None = None,
        event: WorkflowEventFilterInput | None = None,
        input: Any | None = None,
        run_key: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowTrigger:
        """
        Creates a trigger. A schedule starts runs from now on, an event trigger for events from now on.

        name: The name, unique in the environment.
        definition: The key or the id of the definition. It need not be published yet.
        version: The version; 0 for the version that is active when a run starts.
        environment_id: The id or the key of the environment; production when empty.
        enabled: Whether it starts runs; default true.
        schedule: The times at which runs start.
        event: The events for which runs start.
        input: The input of the runs: a template that may use schedule.time, or event; null when absent.
        run_key: The run key: a template like the input.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        trigger_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowTrigger:
        """
        Returns one trigger.

        trigger_id: The trigger's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        definition: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowTrigger]:
        """
        Lists the triggers of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only triggers of this environment: its id or its key.
        definition: Only triggers of this definition: its key or its id, whichever the trigger was given.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        trigger_id: str,
        name: str | None = None,
        definition: str | None = None,
        version: int | None = None,
        enabled: bool | None = None,
        schedule: WorkflowScheduleInput | None = None,
        event: WorkflowEventFilterInput | None = None,
        input: Any | None = None,
        run_key: str | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowTrigger:
        """
        Changes the fields that are present. A trigger that is enabled again starts runs from then on.

        trigger_id: The trigger's id.
        name: The name.
        definition: The key or the id of the definition.
        version: The version; 0 for the active one.
        enabled: Whether it starts runs.
        schedule: Replaces the schedule. An event trigger cannot become a schedule.
        event: Replaces the events. A schedule cannot become an event trigger.
        input: The template of the input.
        run_key: The template of the run key.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        trigger_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowTrigger:
        """
        Deletes a trigger. Runs that it started go on.

        trigger_id: The trigger's id.
        """
        return await self._call(DELETE, locals())

    async def fire(
        self,
        *,
        trigger_id: str,
        event: WorkflowTriggerEvent | None = None,
        call: CallOptions | None = None,
    ) -> FireWorkflowTriggerResponse:
        """
        Starts a run now, whether the trigger is enabled or not, and whatever its overlap policy and condition are.

        trigger_id: The trigger's id.
        event: The event for the templates of an event trigger. Required if they use it.
        """
        return await self._call(FIRE, locals())

    async def preview(
        self,
        *,
        schedule: WorkflowScheduleInput | None = None,
        event: WorkflowEventFilterInput | None = None,
        sample: WorkflowTriggerEvent | None = None,
        input: Any | None = None,
        run_key: str | None = None,
        after: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> PreviewWorkflowTriggerResponse:
        """
        Shows the next ten times of a schedule, or whether an event would start a run, and with which input. Nothing is stored and no run starts.

        schedule: The times.
        event: The events.
        sample: The event to try. Required for an event trigger.
        input: The template of the input.
        run_key: The template of the run key.
        after: The time after which the times of a schedule are shown; now when absent.
        """
        return await self._call(PREVIEW, locals())
