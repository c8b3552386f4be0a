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
    from ..types.api_key import ApiKey, ApiKeyStatus

LIST = Operation("GET", "/api/v2/api-keys", result="cursor")
CREATE = Operation("POST", "/api/v2/api-keys", body="*", keyed=True)
GET = Operation("GET", "/api/v2/api-keys/{api_key_id}")
REVOKE = Operation("POST", "/api/v2/api-keys/{api_key_id}/revoke", body="*", keyed=True)


class ApiKeyService(Service):
    """API keys: credentials of programs. A key belongs to a tenant and never has more access than its creator."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: ApiKeyStatus | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ApiKey]:
        """
        Lists the keys of the caller's tenant, never their secrets.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only keys in this status.
        """
        return self._call(LIST, locals())

    def create(
        self,
        *,
        name: str,
        roles: Sequence[str] | None = None,
        scopes: Sequence[str] | None = None,
        environment_mode: Literal["", "any", "production_only", "non_production_only"] | None = None,
        expires_at: str | datetime | None = None,
        max_rps: int | None = None,
        call: CallOptions | None = None,
    ) -> ApiKey:
        """
        Creates a key. Only this response contains its secret.

        name: The display name.
        roles: Its roles: viewer, operator, admin, service or a role of a module.
        scopes: Its own scopes, each resource:action as operations need them; * means any.
        environment_mode: The environments it may be used in: any (when empty), production_only or non_production_only.
        expires_at: When it expires: not after the creator's own access, which is also the default.
        max_rps: Its own rate limit, in tokens per second, besides those of the tenant; none when 0. A key with a limit gives it to the keys that it creates.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        api_key_id: str,
        call: CallOptions | None = None,
    ) -> ApiKey:
        """
        Returns one key, never its secret.

        api_key_id: The key's id.
        """
        return self._call(GET, locals())

    def revoke(
        self,
        *,
        api_key_id: str,
        call: CallOptions | None = None,
    ) -> ApiKey:
        """
        Revokes a key. This node rejects it immediately, every other node within a second.

        api_key_id: The key's id.
        """
        return self._call(REVOKE, locals())


class AsyncApiKeyService(AsyncService):
    """API keys: credentials of programs. A key belongs to a tenant and never has more access than its creator."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: ApiKeyStatus | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ApiKey]:
        """
        Lists the keys of the caller's tenant, never their secrets.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only keys in this status.
        """
        return self._list(LIST, locals())

    async def create(
        self,
        *,
        name: str,
        roles: Sequence[str] | None = None,
        scopes: Sequence[str] | None = None,
        environment_mode: Literal["", "any", "production_only", "non_production_only"] | None = None,
        expires_at: str | datetime | None = None,
        max_rps: int | None = None,
        call: CallOptions | None = None,
    ) -> ApiKey:
        """
        Creates a key. Only this response contains its secret.

        name: The display name.
        roles: Its roles: viewer, operator, admin, service or a role of a module.
        scopes: Its own scopes, each resource:action as operations need them; * means any.
        environment_mode: The environments it may be used in: any (when empty), production_only or non_production_only.
        expires_at: When it expires: not after the creator's own access, which is also the default.
        max_rps: Its own rate limit, in tokens per second, besides those of the tenant; none when 0. A key with a limit gives it to the keys that it creates.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        api_key_id: str,
        call: CallOptions | None = None,
    ) -> ApiKey:
        """
        Returns one key, never its secret.

        api_key_id: The key's id.
        """
        return await self._call(GET, locals())

    async def revoke(
        self,
        *,
        api_key_id: str,
        call: CallOptions | None = None,
    ) -> ApiKey:
        """
        Revokes a key. This node rejects it immediately, every other node within a second.

        api_key_id: The key's id.
        """
        return await self._call(REVOKE, locals())
