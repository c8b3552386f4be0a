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
    from ..types.notification_workflow import ChannelContentInput, ChannelContentsInput, NotificationStepInput, NotificationWorkflow, NotificationWorkflowUser, PreviewNotificationContentResponse
    from ..types.preference import PreferenceSettingsInput

UPSERT = Operation("PUT", "/api/v2/notification/workflows/{workflow_key}", body="*", keyed=True)
GET = Operation("GET", "/api/v2/notification/workflows/{workflow_key}")
LIST = Operation("GET", "/api/v2/notification/workflows", result="cursor")
DELETE = Operation("DELETE", "/api/v2/notification/workflows/{workflow_key}", keyed=True)
UPSERT_USER = Operation("PUT", "/api/v2/notification/workflows/{workflow_key}/users/{user_id}", body="*", keyed=True)
GET_USER = Operation("GET", "/api/v2/notification/workflows/{workflow_key}/users/{user_id}")
LIST_USERS = Operation("GET", "/api/v2/notification/workflows/{workflow_key}/users", result="cursor")
DELETE_USER = Operation("DELETE", "/api/v2/notification/workflows/{workflow_key}/users/{user_id}", keyed=True)
PREVIEW_NOTIFICATION_CONTENT = Operation("POST", "/api/v2/notification/workflows:preview", body="*")


class NotificationWorkflowService(Service):
    """Notification workflows: the content of one kind of notification on each channel, and the author's preferences for everybody and for single users."""

    def upsert(
        self,
        *,
        workflow_key: str,
        name: str | None = None,
        description: str | None = None,
        channels: ChannelContentsInput | None = None,
        preferences: PreferenceSettingsInput | None = None,
        record_version: int | None = None,
        steps: Sequence[NotificationStepInput] | None = None,
        call: CallOptions | None = None,
    ) -> NotificationWorkflow:
        """
        Creates or replaces the workflow with this key: absent fields are cleared. Templates and conditions are checked.

        workflow_key: The key: letters and digits, separated by single dots, underscores or hyphens (for example: order.shipped).
        name: The display name; the key when empty.
        description: The description.
        channels: The content of each channel.
        preferences: Layer 1: preferences that apply unless a stronger layer decides.
        record_version: Makes the change conditional on this version; 0 requires that there is no such workflow.
        steps: What happens before and between messages, in order. Without steps all channels are sent at once.
        """
        return self._call(UPSERT, locals())

    def get(
        self,
        *,
        workflow_key: str,
        call: CallOptions | None = None,
    ) -> NotificationWorkflow:
        """
        Returns one workflow.

        workflow_key: The workflow's key.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[NotificationWorkflow]:
        """
        Lists the workflows of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def delete(
        self,
        *,
        workflow_key: str,
        call: CallOptions | None = None,
    ) -> NotificationWorkflow:
        """
        Deletes a workflow and its preferences for single users. The preferences of subscribers are kept.

        workflow_key: The workflow's key.
        """
        return self._call(DELETE, locals())

    def upsert_user(
        self,
        *,
        workflow_key: str,
        user_id: str,
        preferences: PreferenceSettingsInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> NotificationWorkflowUser:
        """
        Sets the author's preferences of a workflow for one user: layer 2. They apply when a trigger names the user.

        workflow_key: The workflow's key.
        user_id: The user's id, any text that the tenant chooses.
        preferences: The preferences for the user; they replace the previous ones.
        record_version: Makes the change conditional on this version; 0 requires that there are none for the user.
        """
        return self._call(UPSERT_USER, locals())

    def get_user(
        self,
        *,
        workflow_key: str,
        user_id: str,
        call: CallOptions | None = None,
    ) -> NotificationWorkflowUser:
        """
        Returns the author's preferences of a workflow for one user.

        workflow_key: The workflow's key.
        user_id: The user's id, any text that the tenant chooses.
        """
        return self._call(GET_USER, locals())

    def list_users(
        self,
        *,
        workflow_key: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[NotificationWorkflowUser]:
        """
        Lists the users for whom a workflow has preferences.

        workflow_key: The workflow's key.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_USERS, locals())

    def delete_user(
        self,
        *,
        workflow_key: str,
        user_id: str,
        call: CallOptions | None = None,
    ) -> NotificationWorkflowUser:
        """
        Deletes the author's preferences of a workflow for one user.

        workflow_key: The workflow's key.
        user_id: The user's id, any text that the tenant chooses.
        """
        return self._call(DELETE_USER, locals())

    def preview_notification_content(
        self,
        *,
        channel: Literal["email", "sms", "push", "chat", "in_app"],
        content: ChannelContentInput,
        payload: Mapping[str, Any] | None = None,
        subscriber: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> PreviewNotificationContentResponse:
        """
        Renders content with sample data, without a layout. Nothing is stored and nothing is sent.

        channel: The channel: email, sms, push, chat or in_app.
        content: The templates.
        payload: The sample payload, at most 64 KiB as JSON.
        subscriber: The sample subscriber; locale chooses the texts, and locale and timezone are used for formats.
        """
        return self._call(PREVIEW_NOTIFICATION_CONTENT, locals())


class AsyncNotificationWorkflowService(AsyncService):
    """Notification workflows: the content of one kind of notification on each channel, and the author's preferences for everybody and for single users."""

    async def upsert(
        self,
        *,
        workflow_key: str,
        name: str | None = None,
        description: str | None = None,
        channels: ChannelContentsInput | None = None,
        preferences: PreferenceSettingsInput | None = None,
        record_version: int | None = None,
        steps: Sequence[NotificationStepInput] | None = None,
        call: CallOptions | None = None,
    ) -> NotificationWorkflow:
        """
        Creates or replaces the workflow with this key: absent fields are cleared. Templates and conditions are checked.

        workflow_key: The key: letters and digits, separated by single dots, underscores or hyphens (for example: order.shipped).
        name: The display name; the key when empty.
        description: The description.
        channels: The content of each channel.
        preferences: Layer 1: preferences that apply unless a stronger layer decides.
        record_version: Makes the change conditional on this version; 0 requires that there is no such workflow.
        steps: What happens before and between messages, in order. Without steps all channels are sent at once.
        """
        return await self._call(UPSERT, locals())

    async def get(
        self,
        *,
        workflow_key: str,
        call: CallOptions | None = None,
    ) -> NotificationWorkflow:
        """
        Returns one workflow.

        workflow_key: The workflow's key.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[NotificationWorkflow]:
        """
        Lists the workflows of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def delete(
        self,
        *,
        workflow_key: str,
        call: CallOptions | None = None,
    ) -> NotificationWorkflow:
        """
        Deletes a workflow and its preferences for single users. The preferences of subscribers are kept.

        workflow_key: The workflow's key.
        """
        return await self._call(DELETE, locals())

    async def upsert_user(
        self,
        *,
        workflow_key: str,
        user_id: str,
        preferences: PreferenceSettingsInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> NotificationWorkflowUser:
        """
        Sets the author's preferences of a workflow for one user: layer 2. They apply when a trigger names the user.

        workflow_key: The workflow's key.
        user_id: The user's id, any text that the tenant chooses.
        preferences: The preferences for the user; they replace the previous ones.
        record_version: Makes the change conditional on this version; 0 requires that there are none for the user.
        """
        return await self._call(UPSERT_USER, locals())

    async def get_user(
        self,
        *,
        workflow_key: str,
        user_id: str,
        call: CallOptions | None = None,
    ) -> NotificationWorkflowUser:
        """
        Returns the author's preferences of a workflow for one user.

        workflow_key: The workflow's key.
        user_id: The user's id, any text that the tenant chooses.
        """
        return await self._call(GET_USER, locals())

    def list_users(
        self,
        *,
        workflow_key: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[NotificationWorkflowUser]:
        """
        Lists the users for whom a workflow has preferences.

        workflow_key: The workflow's key.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_USERS, locals())

    async def delete_user(
        self,
        *,
        workflow_key: str,
        user_id: str,
        call: CallOptions | None = None,
    ) -> NotificationWorkflowUser:
        """
        Deletes the author's preferences of a workflow for one user.

        workflow_key: The workflow's key.
        user_id: The user's id, any text that the tenant chooses.
        """
        return await self._call(DELETE_USER, locals())

    async def preview_notification_content(
        self,
        *,
        channel: Literal["email", "sms", "push", "chat", "in_app"],
        content: ChannelContentInput,
        payload: Mapping[str, Any] | None = None,
        subscriber: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> PreviewNotificationContentResponse:
        """
        Renders content with sample data, without a layout. Nothing is stored and nothing is sent.

        channel: The channel: email, sms, push, chat or in_app.
        content: The templates.
        payload: The sample payload, at most 64 KiB as JSON.
        subscriber: The sample subscriber; locale chooses the texts, and locale and timezone are used for formats.
        """
        return await self._call(PREVIEW_NOTIFICATION_CONTENT, locals())
