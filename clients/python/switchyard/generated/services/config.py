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
    from ..types.config import ConfigValue, GetConfigSchemaResponse

GET_SCHEMA = Operation("GET", "/api/config/schema")
LIST_VALUES = Operation("GET", "/api/config/values", result="cursor")
GET_VALUE = Operation("GET", "/api/config/values/{key}")
SET_VALUE = Operation("PUT", "/api/config/values/{key}", body="*", keyed=True)
RESET_VALUE = Operation("DELETE", "/api/config/values/{key}", keyed=True)
EXPORT = Operation("GET", "/api/config/export", result="raw")


class ConfigService(Service):
    """Dynamic configuration: settings that a tenant can change at run time."""

    def get_schema(
        self,
        *,
        call: CallOptions | None = None,
    ) -> GetConfigSchemaResponse:
        """Describes every setting that a tenant can change."""
        return self._call(GET_SCHEMA, locals())

    def list_values(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConfigValue]:
        """
        Lists the effective values of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_VALUES, locals())

    def get_value(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> ConfigValue:
        """
        Returns the effective value of one setting.

        key: The dotted key.
        """
        return self._call(GET_VALUE, locals())

    def set_value(
        self,
        *,
        key: str,
        value: Any,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> ConfigValue:
        """
        Sets one value.

        key: The dotted key.
        value: The new value.
        record_version: Makes the change conditional on this version.
        """
        return self._call(SET_VALUE, locals())

    def reset_value(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> ConfigValue:
        """
        Restores the default of one setting.

        key: The dotted key.
        """
        return self._call(RESET_VALUE, locals())

    def export(
        self,
        *,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """Exports the writable values of the caller's tenant as YAML."""
        return self._call(EXPORT, locals())


class AsyncConfigService(AsyncService):
    """Dynamic configuration: settings that a tenant can change at run time."""

    async def get_schema(
        self,
        *,
        call: CallOptions | None = None,
    ) -> GetConfigSchemaResponse:
        """Describes every setting that a tenant can change."""
        return await self._call(GET_SCHEMA, locals())

    def list_values(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConfigValue]:
        """
        Lists the effective values of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_VALUES, locals())

    async def get_value(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> ConfigValue:
        """
        Returns the effective value of one setting.

        key: The dotted key.
        """
        return await self._call(GET_VALUE, locals())

    async def set_value(
        self,
        *,
        key: str,
        value: Any,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> ConfigValue:
        """
        Sets one value.

        key: The dotted key.
        value: The new value.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(SET_VALUE, locals())

    async def reset_value(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> ConfigValue:
        """
        Restores the default of one setting.

        key: The dotted key.
        """
        return await self._call(RESET_VALUE, locals())

    async def export(
        self,
        *,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """Exports the writable values of the caller's tenant as YAML."""
        return await self._call(EXPORT, locals())
