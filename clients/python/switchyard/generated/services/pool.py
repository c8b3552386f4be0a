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
    from ..types.pool import Pool, PoolConfigInput, PoolStatus

CREATE = Operation("POST", "/api/pools", body="*", keyed=True)
GET = Operation("GET", "/api/pools/{pool_id}")
UPDATE = Operation("PATCH", "/api/pools/{pool_id}", body="*", keyed=True)
SET_ENABLED = Operation("POST", "/api/pools/{pool_id}:set_enabled", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/pools/{pool_id}", keyed=True)
LIST = Operation("GET", "/api/pools", result="cursor")


class PoolService(Service):
    """Pools: groups of recipients, with the rules and the strategy that choose among them."""

    def create(
        self,
        *,
        name: str,
        description: str | None = None,
        strategy: Literal["", "weighted_random", "round_robin", "least_loaded", "priority", "sticky_hash", "skills_based", "longest_idle", "lowest_latency", "lowest_cost", "first_accept", "manual"] | None = None,
        status: PoolStatus | None = None,
        environment_id: str | None = None,
        config: PoolConfigInput | None = None,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Creates a pool.

        name: The display name, unique in its environment.
        description: The description.
        strategy: How it chooses among eligible recipients; weighted_random when empty.
        status: The initial status; active when unspecified.
        environment_id: The id or the key of the environment; production when empty.
        config: The configuration besides the strategy.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        pool_id: str,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Returns one pool, including archived ones.

        pool_id: The pool's id.
        """
        return self._call(GET, locals())

    def update(
        self,
        *,
        pool_id: str,
        name: str | None = None,
        description: str | None = None,
        strategy: Literal["weighted_random", "round_robin", "least_loaded", "priority", "sticky_hash", "skills_based", "longest_idle", "lowest_latency", "lowest_cost", "first_accept", "manual"] | None = None,
        status: PoolStatus | None = None,
        config: PoolConfigInput | None = None,
        reset_config: Sequence[str] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Changes the fields that are present, also within the config.

        pool_id: The pool's id.
        name: The display name.
        description: The description.
        strategy: How it chooses among eligible recipients.
        status: STATUS_ACTIVE, STATUS_DISABLED or STATUS_DRAINING.
        config: The changed fields of the config. A list replaces the previous one. Null is rejected: use reset_config to remove a part.
        reset_config: Parts of the config to reset to their defaults first, such as fallback.steps. A constraint is removed the same way, such as admission.singleton.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def set_enabled(
        self,
        *,
        pool_id: str,
        enabled: bool,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Enables or disables a pool. Its items stay.

        pool_id: The pool's id.
        enabled: Whether it accepts and leases items. Required, so that nobody disables a pool by mistake.
        """
        return self._call(SET_ENABLED, locals())

    def delete(
        self,
        *,
        pool_id: str,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Archives a pool permanently. Rejected while items wait in it or are leased.

        pool_id: The pool's id.
        """
        return self._call(DELETE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: PoolStatus | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Pool]:
        """
        Lists the pools of the caller's tenant. Archived ones are listed only on request.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only pools in this status; all except archived ones when unspecified.
        environment_id: Only pools of this environment: its id or its key.
        """
        return self._call(LIST, locals())


class AsyncPoolService(AsyncService):
    """Pools: groups of recipients, with the rules and the strategy that choose among them."""

    async def create(
        self,
        *,
        name: str,
        description: str | None = None,
        strategy: Literal["", "weighted_random", "round_robin", "least_loaded", "priority", "sticky_hash", "skills_based", "longest_idle", "lowest_latency", "lowest_cost", "first_accept", "manual"] | None = None,
        status: PoolStatus | None = None,
        environment_id: str | None = None,
        config: PoolConfigInput | None = None,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Creates a pool.

        name: The display name, unique in its environment.
        description: The description.
        strategy: How it chooses among eligible recipients; weighted_random when empty.
        status: The initial status; active when unspecified.
        environment_id: The id or the key of the environment; production when empty.
        config: The configuration besides the strategy.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        pool_id: str,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Returns one pool, including archived ones.

        pool_id: The pool's id.
        """
        return await self._call(GET, locals())

    async def update(
        self,
        *,
        pool_id: str,
        name: str | None = None,
        description: str | None = None,
        strategy: Literal["weighted_random", "round_robin", "least_loaded", "priority", "sticky_hash", "skills_based", "longest_idle", "lowest_latency", "lowest_cost", "first_accept", "manual"] | None = None,
        status: PoolStatus | None = None,
        config: PoolConfigInput | None = None,
        reset_config: Sequence[str] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Changes the fields that are present, also within the config.

        pool_id: The pool's id.
        name: The display name.
        description: The description.
        strategy: How it chooses among eligible recipients.
        status: STATUS_ACTIVE, STATUS_DISABLED or STATUS_DRAINING.
        config: The changed fields of the config. A list replaces the previous one. Null is rejected: use reset_config to remove a part.
        reset_config: Parts of the config to reset to their defaults first, such as fallback.steps. A constraint is removed the same way, such as admission.singleton.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def set_enabled(
        self,
        *,
        pool_id: str,
        enabled: bool,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Enables or disables a pool. Its items stay.

        pool_id: The pool's id.
        enabled: Whether it accepts and leases items. Required, so that nobody disables a pool by mistake.
        """
        return await self._call(SET_ENABLED, locals())

    async def delete(
        self,
        *,
        pool_id: str,
        call: CallOptions | None = None,
    ) -> Pool:
        """
        Archives a pool permanently. Rejected while items wait in it or are leased.

        pool_id: The pool's id.
        """
        return await self._call(DELETE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: PoolStatus | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Pool]:
        """
        Lists the pools of the caller's tenant. Archived ones are listed only on request.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only pools in this status; all except archived ones when unspecified.
        environment_id: Only pools of this environment: its id or its key.
        """
        return self._list(LIST, locals())
