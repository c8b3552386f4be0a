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
    from ..types.integration import Integration

CREATE = Operation("POST", "/api/v2/notification/integrations", body="*", keyed=True)
GET = Operation("GET", "/api/v2/notification/integrations/{id}")
LIST = Operation("GET", "/api/v2/notification/integrations", result="cursor")
UPDATE = Operation("PUT", "/api/v2/notification/integrations/{id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/v2/notification/integrations/{id}", keyed=True)


class IntegrationService(Service):
    """Integrations: which provider serves a channel, in which order and for which messages."""

    def create(
        self,
        *,
        channel: Literal["email", "sms", "push", "chat", "in_app"],
        name: str,
        provider_key: str,
        connection_id: str | None = None,
        priority: int | None = None,
        active: bool | None = None,
        condition: str | None = None,
        casing_override: Literal["", "upper", "lower", "title", "sentence"] | None = None,
        metadata: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Integration:
        """
        Creates an integration.

        channel: The channel that it serves: email, sms, push, chat or in_app.
        name: The name, unique among the integrations of the channel.
        provider_key: The provider that sends; it must serve the channel.
        connection_id: The connection that holds the provider's credentials; empty for in_app and development, which need none.
        priority: The lowest priority is used first; the oldest among equals. Default 100.
        active: Whether it is used; default true.
        condition: The messages for which it is used, as a CEL condition over subscriber, payload, workflow_key and channel; all when empty.
        casing_override: The letter case of the messages: upper, lower, title or sentence; unchanged when empty.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Integration:
        """
        Returns one integration.

        id: The integration's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        channel: Literal["email", "sms", "push", "chat", "in_app"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Integration]:
        """
        Lists the integrations of the caller's tenant, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        channel: Only those of this channel.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        id: str,
        channel: Literal["email", "sms", "push", "chat", "in_app"] | None = None,
        name: str,
        provider_key: str,
        connection_id: str | None = None,
        priority: int | None = None,
        active: bool | None = None,
        condition: str | None = None,
        casing_override: Literal["", "upper", "lower", "title", "sentence"] | None = None,
        metadata: Mapping[str, Any] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Integration:
        """
        Replaces an integration: absent fields get their defaults. The channel cannot change.

        id: The integration's id.
        channel: The channel that it serves; if present, it must be the current one.
        name: The name, unique among the integrations of the channel.
        provider_key: The provider that sends; it must serve the channel.
        connection_id: The connection that holds the provider's credentials; empty for in_app and development, which need none.
        priority: The lowest priority is used first; the oldest among equals. Default 100.
        active: Whether it is used; default true.
        condition: The messages for which it is used, as a CEL condition over subscriber, payload, workflow_key and channel; all when empty.
        casing_override: The letter case of the messages: upper, lower, title or sentence; unchanged when empty.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Integration:
        """
        Deletes an integration. Nothing is sent through it afterwards.

        id: The integration's id.
        """
        return self._call(DELETE, locals())


class AsyncIntegrationService(AsyncService):
    """Integrations: which provider serves a channel, in which order and for which messages."""

    async def create(
        self,
        *,
        channel: Literal["email", "sms", "push", "chat", "in_app"],
        name: str,
        provider_key: str,
        connection_id: str | None = None,
        priority: int | None = None,
        active: bool | None = None,
        condition: str | None = None,
        casing_override: Literal["", "upper", "lower", "title", "sentence"] | None = None,
        metadata: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Integration:
        """
        Creates an integration.

        channel: The channel that it serves: email, sms, push, chat or in_app.
        name: The name, unique among the integrations of the channel.
        provider_key: The provider that sends; it must serve the channel.
        connection_id: The connection that holds the provider's credentials; empty for in_app and development, which need none.
        priority: The lowest priority is used first; the oldest among equals. Default 100.
        active: Whether it is used; default true.
        condition: The messages for which it is used, as a CEL condition over subscriber, payload, workflow_key and channel; all when empty.
        casing_override: The letter case of the messages: upper, lower, title or sentence; unchanged when empty.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Integration:
        """
        Returns one integration.

        id: The integration's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        channel: Literal["email", "sms", "push", "chat", "in_app"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Integration]:
        """
        Lists the integrations of the caller's tenant, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        channel: Only those of this channel.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        id: str,
        channel: Literal["email", "sms", "push", "chat", "in_app"] | None = None,
        name: str,
        provider_key: str,
        connection_id: str | None = None,
        priority: int | None = None,
        active: bool | None = None,
        condition: str | None = None,
        casing_override: Literal["", "upper", "lower", "title", "sentence"] | None = None,
        metadata: Mapping[str, Any] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Integration:
        """
        Replaces an integration: absent fields get their defaults. The channel cannot change.

        id: The integration's id.
        channel: The channel that it serves; if present, it must be the current one.
        name: The name, unique among the integrations of the channel.
        provider_key: The provider that sends; it must serve the channel.
        connection_id: The connection that holds the provider's credentials; empty for in_app and development, which need none.
        priority: The lowest priority is used first; the oldest among equals. Default 100.
        active: Whether it is used; default true.
        condition: The messages for which it is used, as a CEL condition over subscriber, payload, workflow_key and channel; all when empty.
        casing_override: The letter case of the messages: upper, lower, title or sentence; unchanged when empty.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Integration:
        """
        Deletes an integration. Nothing is sent through it afterwards.

        id: The integration's id.
        """
        return await self._call(DELETE, locals())
