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
    from ..types.partial import TemplatePartial

UPSERT = Operation("PUT", "/api/v2/notification/partials/{key}", body="*", keyed=True)
GET = Operation("GET", "/api/v2/notification/partials/{key}")
LIST = Operation("GET", "/api/v2/notification/partials", result="cursor")
DELETE = Operation("DELETE", "/api/v2/notification/partials/{key}", keyed=True)


class PartialService(Service):
    """Partials: pieces of templates that notification workflows, layouts and other partials include."""

    def upsert(
        self,
        *,
        key: str,
        description: str | None = None,
        engine: Literal["handlebars", "liquid"],
        body: str,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> TemplatePartial:
        """
        Creates or replaces a partial. Handlebars includes it with {{> key}}, Liquid with {% render 'key' %}.

        key: The key: lower-case letters and digits, separated by single hyphens or underscores (for example: order-footer).
        description: The description.
        engine: The template language, "handlebars" or "liquid".
        body: The template. It sees the values of the place that includes it.
        record_version: Makes the change conditional on this version; 0 for a partial that must not exist yet.
        """
        return self._call(UPSERT, locals())

    def get(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> TemplatePartial:
        """
        Returns one partial.

        key: The partial's key.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[TemplatePartial]:
        """
        Lists the partials of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def delete(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> TemplatePartial:
        """
        Deletes a partial. One that a notification workflow, a layout or another partial includes is refused.

        key: The partial's key.
        """
        return self._call(DELETE, locals())


class AsyncPartialService(AsyncService):
    """Partials: pieces of templates that notification workflows, layouts and other partials include."""

    async def upsert(
        self,
        *,
        key: str,
        description: str | None = None,
        engine: Literal["handlebars", "liquid"],
        body: str,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> TemplatePartial:
        """
        Creates or replaces a partial. Handlebars includes it with {{> key}}, Liquid with {% render 'key' %}.

        key: The key: lower-case letters and digits, separated by single hyphens or underscores (for example: order-footer).
        description: The description.
        engine: The template language, "handlebars" or "liquid".
        body: The template. It sees the values of the place that includes it.
        record_version: Makes the change conditional on this version; 0 for a partial that must not exist yet.
        """
        return await self._call(UPSERT, locals())

    async def get(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> TemplatePartial:
        """
        Returns one partial.

        key: The partial's key.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[TemplatePartial]:
        """
        Lists the partials of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def delete(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> TemplatePartial:
        """
        Deletes a partial. One that a notification workflow, a layout or another partial includes is refused.

        key: The partial's key.
        """
        return await self._call(DELETE, locals())
