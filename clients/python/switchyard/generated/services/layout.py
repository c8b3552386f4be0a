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
    from ..types.layout import GetLayoutUsageResponse, Layout, PreviewLayoutResponse

CREATE = Operation("POST", "/api/v2/layouts", body="*", keyed=True)
GET = Operation("GET", "/api/v2/layouts/{id}")
LIST = Operation("GET", "/api/v2/layouts", result="cursor")
UPDATE = Operation("PUT", "/api/v2/layouts/{id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/v2/layouts/{id}", keyed=True)
GET_USAGE = Operation("GET", "/api/v2/layouts/{id}/usage")
SET_DEFAULT = Operation("POST", "/api/v2/layouts/{id}:setDefault", body="*", keyed=True)
DUPLICATE = Operation("POST", "/api/v2/layouts/{id}:duplicate", body="*", keyed=True)
PREVIEW = Operation("POST", "/api/v2/layouts/{id}:preview", body="*")


class LayoutService(Service):
    """Layouts: templates around the notifications of a channel."""

    def create(
        self,
        *,
        name: str,
        description: str | None = None,
        engine: Literal["handlebars", "liquid"] | None = None,
        body: str,
        text_body: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        channel: Literal["email", "sms", "push", "chat", "inapp"],
        is_default: bool | None = None,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Creates a layout. Its templates must contain a reachable {{ content }}.

        name: The name, unique on its channel.
        description: The description.
        engine: The template language: handlebars or liquid; handlebars when empty.
        body: The template around the content, with {{ content }} in its place; HTML on email.
        text_body: The template around the content without markup, also with {{ content }}; empty for none.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON.
        channel: The channel: email, sms, push, chat or inapp.
        is_default: Whether it becomes the default of its channel.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Returns one layout.

        id: The layout's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        channel: Literal["email", "sms", "push", "chat", "inapp"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Layout]:
        """
        Lists the layouts of the caller's tenant, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        channel: Only those of this channel: email, sms, push, chat or inapp.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        id: str,
        name: str,
        description: str | None = None,
        engine: Literal["handlebars", "liquid"] | None = None,
        body: str,
        text_body: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        version: int,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Replaces the text of a layout at the version that the request names. Its channel and whether it is the default do not change.

        id: The layout's id.
        name: The name, unique on its channel.
        description: The description.
        engine: The template language: handlebars or liquid; handlebars when empty.
        body: The template around the content, with {{ content }} in its place; HTML on email.
        text_body: The template around the content without markup, also with {{ content }}; empty for none.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON.
        version: The version that the caller read; rejected if the layout has changed since.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Deletes a layout that no notification workflow uses.

        id: The layout's id.
        """
        return self._call(DELETE, locals())

    def get_usage(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> GetLayoutUsageResponse:
        """
        Lists the notification workflows that use a layout.

        id: The layout's id.
        """
        return self._call(GET_USAGE, locals())

    def set_default(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Makes a layout the default of its channel, in place of the previous default.

        id: The layout's id.
        """
        return self._call(SET_DEFAULT, locals())

    def duplicate(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Creates a copy that is never the default. A copy of Invoice is named Invoice (copy); if that name is taken, the suffix is added again: Invoice (copy) (copy).

        id: The layout's id.
        """
        return self._call(DUPLICATE, locals())

    def preview(
        self,
        *,
        id: str,
        payload: Mapping[str, Any] | None = None,
        subscriber: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> PreviewLayoutResponse:
        """
        Renders a layout with sample data and placeholder content. Nothing is stored.

        id: The layout's id.
        payload: The payload of the sample trigger.
        subscriber: The fields of the sample subscriber.
        """
        return self._call(PREVIEW, locals())


class AsyncLayoutService(AsyncService):
    """Layouts: templates around the notifications of a channel."""

    async def create(
        self,
        *,
        name: str,
        description: str | None = None,
        engine: Literal["handlebars", "liquid"] | None = None,
        body: str,
        text_body: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        channel: Literal["email", "sms", "push", "chat", "inapp"],
        is_default: bool | None = None,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Creates a layout. Its templates must contain a reachable {{ content }}.

        name: The name, unique on its channel.
        description: The description.
        engine: The template language: handlebars or liquid; handlebars when empty.
        body: The template around the content, with {{ content }} in its place; HTML on email.
        text_body: The template around the content without markup, also with {{ content }}; empty for none.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON.
        channel: The channel: email, sms, push, chat or inapp.
        is_default: Whether it becomes the default of its channel.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Returns one layout.

        id: The layout's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        channel: Literal["email", "sms", "push", "chat", "inapp"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Layout]:
        """
        Lists the layouts of the caller's tenant, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        channel: Only those of this channel: email, sms, push, chat or inapp.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        id: str,
        name: str,
        description: str | None = None,
        engine: Literal["handlebars", "liquid"] | None = None,
        body: str,
        text_body: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        version: int,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Replaces the text of a layout at the version that the request names. Its channel and whether it is the default do not change.

        id: The layout's id.
        name: The name, unique on its channel.
        description: The description.
        engine: The template language: handlebars or liquid; handlebars when empty.
        body: The template around the content, with {{ content }} in its place; HTML on email.
        text_body: The template around the content without markup, also with {{ content }}; empty for none.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON.
        version: The version that the caller read; rejected if the layout has changed since.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Deletes a layout that no notification workflow uses.

        id: The layout's id.
        """
        return await self._call(DELETE, locals())

    async def get_usage(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> GetLayoutUsageResponse:
        """
        Lists the notification workflows that use a layout.

        id: The layout's id.
        """
        return await self._call(GET_USAGE, locals())

    async def set_default(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Makes a layout the default of its channel, in place of the previous default.

        id: The layout's id.
        """
        return await self._call(SET_DEFAULT, locals())

    async def duplicate(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Layout:
        """
        Creates a copy that is never the default. A copy of Invoice is named Invoice (copy); if that name is taken, the suffix is added again: Invoice (copy) (copy).

        id: The layout's id.
        """
        return await self._call(DUPLICATE, locals())

    async def preview(
        self,
        *,
        id: str,
        payload: Mapping[str, Any] | None = None,
        subscriber: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> PreviewLayoutResponse:
        """
        Renders a layout with sample data and placeholder content. Nothing is stored.

        id: The layout's id.
        payload: The payload of the sample trigger.
        subscriber: The fields of the sample subscriber.
        """
        return await self._call(PREVIEW, locals())
