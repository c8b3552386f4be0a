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
    from ..types.environment import Environment, EnvironmentMode, EnvironmentStatus, PromotionPolicyInput

CREATE = Operation("POST", "/api/v2/environments", body="*", keyed=True)
GET = Operation("GET", "/api/v2/environments/{environment_id}")
UPDATE = Operation("PATCH", "/api/v2/environments/{environment_id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/v2/environments/{environment_id}", keyed=True)
LIST = Operation("GET", "/api/v2/environments", result="cursor")


class EnvironmentService(Service):
    """Environments of a tenant, such as production: the scope of its configuration and keys."""

    def create(
        self,
        *,
        key: str,
        name: str | None = None,
        mode: EnvironmentMode | None = None,
        call: CallOptions | None = None,
    ) -> Environment:
        """
        Creates an environment.

        key: A short name, unique in the tenant.
        name: The display name; the key when empty.
        mode: Whether work in the environment is real; sandbox when unspecified.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        environment_id: str,
        call: CallOptions | None = None,
    ) -> Environment:
        """
        Returns one environment.

        environment_id: The id or the key of the environment.
        """
        return self._call(GET, locals())

    def update(
        self,
        *,
        environment_id: str,
        name: str | None = None,
        status: EnvironmentStatus | None = None,
        record_version: int | None = None,
        promotion_policy: PromotionPolicyInput | None = None,
        call: CallOptions | None = None,
    ) -> Environment:
        """
        Changes the fields that are present.

        environment_id: The id or the key of the environment.
        name: The display name.
        status: STATUS_ACTIVE or STATUS_DISABLED.
        record_version: Makes the change conditional on this version.
        promotion_policy: What the approval of a promotion needs. A caller who changes it needs the scope promotion:approve.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        environment_id: str,
        call: CallOptions | None = None,
    ) -> Environment:
        """
        Deletes an environment. The environment "production" cannot be deleted.

        environment_id: The id or the key of the environment.
        """
        return self._call(DELETE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Environment]:
        """
        Lists the environments of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())


class AsyncEnvironmentService(AsyncService):
    """Environments of a tenant, such as production: the scope of its configuration and keys."""

    async def create(
        self,
        *,
        key: str,
        name: str | None = None,
        mode: EnvironmentMode | None = None,
        call: CallOptions | None = None,
    ) -> Environment:
        """
        Creates an environment.

        key: A short name, unique in the tenant.
        name: The display name; the key when empty.
        mode: Whether work in the environment is real; sandbox when unspecified.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        environment_id: str,
        call: CallOptions | None = None,
    ) -> Environment:
        """
        Returns one environment.

        environment_id: The id or the key of the environment.
        """
        return await self._call(GET, locals())

    async def update(
        self,
        *,
        environment_id: str,
        name: str | None = None,
        status: EnvironmentStatus | None = None,
        record_version: int | None = None,
        promotion_policy: PromotionPolicyInput | None = None,
        call: CallOptions | None = None,
    ) -> Environment:
        """
        Changes the fields that are present.

        environment_id: The id or the key of the environment.
        name: The display name.
        status: STATUS_ACTIVE or STATUS_DISABLED.
        record_version: Makes the change conditional on this version.
        promotion_policy: What the approval of a promotion needs. A caller who changes it needs the scope promotion:approve.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        environment_id: str,
        call: CallOptions | None = None,
    ) -> Environment:
        """
        Deletes an environment. The environment "production" cannot be deleted.

        environment_id: The id or the key of the environment.
        """
        return await self._call(DELETE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Environment]:
        """
        Lists the environments of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())
