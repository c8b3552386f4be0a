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
    from ..types.pool import PoolConfigInput
    from ..types.pool_version import PoolVersion, PoolVersionDiff, PoolVersionRules

CREATE = Operation("POST", "/api/pools/{pool_id}/versions", body="*", keyed=True)
GET = Operation("GET", "/api/pools/{pool_id}/versions/{version}")
LIST = Operation("GET", "/api/pools/{pool_id}/versions", result="cursor")
DIFF = Operation("GET", "/api/pools/{pool_id}/versions/{version}/diff")
ACTIVATE = Operation("POST", "/api/pools/{pool_id}/versions/{version}/activate", body="*", keyed=True)


class PoolVersionService(Service):
    """Versions of pools: what a pool routes by, at a time. A version never changes."""

    def create(
        self,
        *,
        pool_id: str,
        strategy: Literal["weighted_random", "round_robin", "least_loaded", "priority", "sticky_hash", "skills_based", "longest_idle", "lowest_latency", "lowest_cost", "first_accept", "manual"] | None = None,
        config: PoolConfigInput | None = None,
        rule_set: PoolVersionRules | None = None,
        message: str | None = None,
        call: CallOptions | None = None,
    ) -> PoolVersion:
        """
        Stages a version without activating it. Parts that are absent are copied from the pool as it is now.

        pool_id: The pool's id.
        strategy: The strategy; the pool's when absent.
        config: The whole config, of which absent fields have their defaults; the pool's when absent.
        rule_set: All rules; the pool's when absent.
        message: What is new, for people.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        pool_id: str,
        version: int,
        call: CallOptions | None = None,
    ) -> PoolVersion:
        """
        Returns one version with its content.

        pool_id: The pool's id.
        version: The number of the version.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        pool_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[PoolVersion]:
        """
        Lists the versions of a pool without their content, newest first. Every change of the strategy, the config or the rules is a version. The 500 newest ones are kept, and all staged ones.

        pool_id: The pool's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def diff(
        self,
        *,
        pool_id: str,
        version: int,
        against: int | None = None,
        call: CallOptions | None = None,
    ) -> PoolVersionDiff:
        """
        Compares a version with another one.

        pool_id: The pool's id.
        version: The number of the version.
        against: The version to compare with; the active one when 0.
        """
        return self._call(DIFF, locals())

    def activate(
        self,
        *,
        pool_id: str,
        version: int,
        expected_sha256: str | None = None,
        call: CallOptions | None = None,
    ) -> PoolVersion:
        """
        Makes a version the content of its pool: its strategy, config and rules. Recipients stay as they are. Use a promotion to check a version and to try it on a part of the items first.

        pool_id: The pool's id.
        version: The number of the version.
        expected_sha256: Activates the version only if the pool has the content with this digest now.
        """
        return self._call(ACTIVATE, locals())


class AsyncPoolVersionService(AsyncService):
    """Versions of pools: what a pool routes by, at a time. A version never changes."""

    async def create(
        self,
        *,
        pool_id: str,
        strategy: Literal["weighted_random", "round_robin", "least_loaded", "priority", "sticky_hash", "skills_based", "longest_idle", "lowest_latency", "lowest_cost", "first_accept", "manual"] | None = None,
        config: PoolConfigInput | None = None,
        rule_set: PoolVersionRules | None = None,
        message: str | None = None,
        call: CallOptions | None = None,
    ) -> PoolVersion:
        """
        Stages a version without activating it. Parts that are absent are copied from the pool as it is now.

        pool_id: The pool's id.
        strategy: The strategy; the pool's when absent.
        config: The whole config, of which absent fields have their defaults; the pool's when absent.
        rule_set: All rules; the pool's when absent.
        message: What is new, for people.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        pool_id: str,
        version: int,
        call: CallOptions | None = None,
    ) -> PoolVersion:
        """
        Returns one version with its content.

        pool_id: The pool's id.
        version: The number of the version.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        pool_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[PoolVersion]:
        """
        Lists the versions of a pool without their content, newest first. Every change of the strategy, the config or the rules is a version. The 500 newest ones are kept, and all staged ones.

        pool_id: The pool's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def diff(
        self,
        *,
        pool_id: str,
        version: int,
        against: int | None = None,
        call: CallOptions | None = None,
    ) -> PoolVersionDiff:
        """
        Compares a version with another one.

        pool_id: The pool's id.
        version: The number of the version.
        against: The version to compare with; the active one when 0.
        """
        return await self._call(DIFF, locals())

    async def activate(
        self,
        *,
        pool_id: str,
        version: int,
        expected_sha256: str | None = None,
        call: CallOptions | None = None,
    ) -> PoolVersion:
        """
        Makes a version the content of its pool: its strategy, config and rules. Recipients stay as they are. Use a promotion to check a version and to try it on a part of the items first.

        pool_id: The pool's id.
        version: The number of the version.
        expected_sha256: Activates the version only if the pool has the content with this digest now.
        """
        return await self._call(ACTIVATE, locals())
