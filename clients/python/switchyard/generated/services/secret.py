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
    from ..types.secret import Secret

CREATE = Operation("POST", "/api/v2/secrets", body="*", keyed=True)
GET = Operation("GET", "/api/v2/secrets/{secret_id}")
UPDATE = Operation("PATCH", "/api/v2/secrets/{secret_id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/v2/secrets/{secret_id}", keyed=True)
LIST = Operation("GET", "/api/v2/secrets", result="cursor")


class SecretService(Service):
    """Secrets: values that callers can set and use, but never read back."""

    def create(
        self,
        *,
        name: str,
        value: str,
        metadata: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Secret:
        """
        Creates a secret.

        name: Its name, unique in the tenant.
        value: The value, write-only.
        metadata: Free-form notes; not secret.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        secret_id: str,
        call: CallOptions | None = None,
    ) -> Secret:
        """
        Returns the metadata of a secret, never its value.

        secret_id: The secret's id.
        """
        return self._call(GET, locals())

    def update(
        self,
        *,
        secret_id: str,
        value: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Secret:
        """
        Changes the fields that are present. A new value creates a new version.

        secret_id: The secret's id.
        value: The new value, write-only.
        metadata: Replaces the notes.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        secret_id: str,
        call: CallOptions | None = None,
    ) -> Secret:
        """
        Deletes a secret and its value.

        secret_id: The secret's id.
        """
        return self._call(DELETE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Secret]:
        """
        Lists the secrets of the caller's tenant, never their values.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())


class AsyncSecretService(AsyncService):
    """Secrets: values that callers can set and use, but never read back."""

    async def create(
        self,
        *,
        name: str,
        value: str,
        metadata: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Secret:
        """
        Creates a secret.

        name: Its name, unique in the tenant.
        value: The value, write-only.
        metadata: Free-form notes; not secret.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        secret_id: str,
        call: CallOptions | None = None,
    ) -> Secret:
        """
        Returns the metadata of a secret, never its value.

        secret_id: The secret's id.
        """
        return await self._call(GET, locals())

    async def update(
        self,
        *,
        secret_id: str,
        value: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Secret:
        """
        Changes the fields that are present. A new value creates a new version.

        secret_id: The secret's id.
        value: The new value, write-only.
        metadata: Replaces the notes.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        secret_id: str,
        call: CallOptions | None = None,
    ) -> Secret:
        """
        Deletes a secret and its value.

        secret_id: The secret's id.
        """
        return await self._call(DELETE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Secret]:
        """
        Lists the secrets of the caller's tenant, never their values.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())
