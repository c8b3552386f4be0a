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
    from ..types.rule import Rule, RuleActionInput, RuleSample, ValidateRuleResponse

CREATE = Operation("POST", "/api/pools/{pool_id}/rules", body="*", keyed=True)
GET = Operation("GET", "/api/rules/{rule_id}")
LIST = Operation("GET", "/api/pools/{pool_id}/rules", result="cursor")
UPDATE = Operation("PATCH", "/api/rules/{rule_id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/rules/{rule_id}", keyed=True)
VALIDATE = Operation("POST", "/api/rules/validate", body="*")


class RuleService(Service):
    """Rules: what a pool does with items that match a condition."""

    def create(
        self,
        *,
        pool_id: str,
        name: str,
        priority: int | None = None,
        condition: str | None = None,
        enabled: bool | None = None,
        stop_on_match: bool | None = None,
        on_error: Literal["skip", "reject"] | None = None,
        action: RuleActionInput,
        call: CallOptions | None = None,
    ) -> Rule:
        """
        Adds a rule to a pool.

        pool_id: The pool.
        name: The display name.
        priority: Lower applies first; default 100.
        condition: CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty.
        enabled: Whether it applies; default true.
        stop_on_match: Whether later rules are skipped when it matches; default true.
        on_error: What happens if the condition fails to evaluate: skip (default) or reject.
        action: The action.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        rule_id: str,
        call: CallOptions | None = None,
    ) -> Rule:
        """
        Returns one rule.

        rule_id: The rule's id.
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
    ) -> PagedList[Rule]:
        """
        Lists the rules of a pool, in the order in which they apply.

        pool_id: The pool's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        rule_id: str,
        name: str | None = None,
        priority: int | None = None,
        condition: str | None = None,
        enabled: bool | None = None,
        stop_on_match: bool | None = None,
        on_error: Literal["skip", "reject"] | None = None,
        action: RuleActionInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Rule:
        """
        Changes the fields that are present.

        rule_id: The rule's id.
        name: The display name.
        priority: Lower applies first.
        condition: CEL; always true when empty.
        enabled: Whether it applies.
        stop_on_match: Whether later rules are skipped when it matches.
        on_error: What happens if the condition fails to evaluate: skip or reject.
        action: Replaces the action.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        rule_id: str,
        call: CallOptions | None = None,
    ) -> Rule:
        """
        Deletes a rule.

        rule_id: The rule's id.
        """
        return self._call(DELETE, locals())

    def validate(
        self,
        *,
        condition: str | None = None,
        action_type: Literal["", "route", "require", "prefer", "set_priority", "redirect_pool", "hold", "reject", "assign_experiment"] | None = None,
        sample: RuleSample | None = None,
        call: CallOptions | None = None,
    ) -> ValidateRuleResponse:
        """
        Checks a condition: whether it is valid, what it reads, and its result for a sample.

        condition: The CEL expression; always true when empty.
        action_type: The action type that it is for: only require and prefer have a recipient. Any when empty.
        sample: The sample to evaluate it on.
        """
        return self._call(VALIDATE, locals())


class AsyncRuleService(AsyncService):
    """Rules: what a pool does with items that match a condition."""

    async def create(
        self,
        *,
        pool_id: str,
        name: str,
        priority: int | None = None,
        condition: str | None = None,
        enabled: bool | None = None,
        stop_on_match: bool | None = None,
        on_error: Literal["skip", "reject"] | None = None,
        action: RuleActionInput,
        call: CallOptions | None = None,
    ) -> Rule:
        """
        Adds a rule to a pool.

        pool_id: The pool.
        name: The display name.
        priority: Lower applies first; default 100.
        condition: CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty.
        enabled: Whether it applies; default true.
        stop_on_match: Whether later rules are skipped when it matches; default true.
        on_error: What happens if the condition fails to evaluate: skip (default) or reject.
        action: The action.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        rule_id: str,
        call: CallOptions | None = None,
    ) -> Rule:
        """
        Returns one rule.

        rule_id: The rule's id.
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
    ) -> AsyncPagedList[Rule]:
        """
        Lists the rules of a pool, in the order in which they apply.

        pool_id: The pool's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        rule_id: str,
        name: str | None = None,
        priority: int | None = None,
        condition: str | None = None,
        enabled: bool | None = None,
        stop_on_match: bool | None = None,
        on_error: Literal["skip", "reject"] | None = None,
        action: RuleActionInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Rule:
        """
        Changes the fields that are present.

        rule_id: The rule's id.
        name: The display name.
        priority: Lower applies first.
        condition: CEL; always true when empty.
        enabled: Whether it applies.
        stop_on_match: Whether later rules are skipped when it matches.
        on_error: What happens if the condition fails to evaluate: skip or reject.
        action: Replaces the action.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        rule_id: str,
        call: CallOptions | None = None,
    ) -> Rule:
        """
        Deletes a rule.

        rule_id: The rule's id.
        """
        return await self._call(DELETE, locals())

    async def validate(
        self,
        *,
        condition: str | None = None,
        action_type: Literal["", "route", "require", "prefer", "set_priority", "redirect_pool", "hold", "reject", "assign_experiment"] | None = None,
        sample: RuleSample | None = None,
        call: CallOptions | None = None,
    ) -> ValidateRuleResponse:
        """
        Checks a condition: whether it is valid, what it reads, and its result for a sample.

        condition: The CEL expression; always true when empty.
        action_type: The action type that it is for: only require and prefer have a recipient. Any when empty.
        sample: The sample to evaluate it on.
        """
        return await self._call(VALIDATE, locals())
