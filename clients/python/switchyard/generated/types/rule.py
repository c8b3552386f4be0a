# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _RuleActionRequired(TypedDict):
    #: route (to one recipient only), require (only recipients for which the condition is true), prefer (those first), set_priority, redirect_pool, hold, reject or assign_experiment.
    type: str
    #: route: the recipient, in the same pool.
    recipient_id: str
    #: redirect_pool: the other pool, in the same environment.
    pool_id: str
    #: hold: the number of seconds.
    hold_s: int
    #: reject: the message for the caller.
    reason: str
    #: assign_experiment: the experiment's key.
    experiment_key: str
    #: reject: the seconds after which the caller may try again; unknown when 0.
    retry_after_s: int


class RuleAction(_RuleActionRequired, total=False):
    """The action of a rule whose condition is true. Each type has its own fields."""

    #: set_priority: the item's new priority. A redirect keeps it: the item arrives in the other pool with it.
    priority: int


class _RuleActionInputRequired(TypedDict):
    #: route (to one recipient only), require (only recipients for which the condition is true), prefer (those first), set_priority, redirect_pool, hold, reject or assign_experiment.
    type: Literal["route", "require", "prefer", "set_priority", "redirect_pool", "hold", "reject", "assign_experiment"]


class RuleActionInput(_RuleActionInputRequired, total=False):
    """The action of a rule whose condition is true. Each type has its own fields."""

    #: route: the recipient, in the same pool.
    recipient_id: str
    #: set_priority: the item's new priority. A redirect keeps it: the item arrives in the other pool with it.
    priority: int
    #: redirect_pool: the other pool, in the same environment.
    pool_id: str
    #: hold: the number of seconds.
    hold_s: int
    #: reject: the message for the caller.
    reason: str
    #: assign_experiment: the experiment's key.
    experiment_key: str
    #: reject: the seconds after which the caller may try again; unknown when 0.
    retry_after_s: int


class _RuleRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool it belongs to.
    pool_id: str
    #: The display name.
    name: str
    #: Lower applies first; the oldest among equals.
    priority: int
    #: CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty.
    condition: str
    #: Whether it applies.
    enabled: bool
    #: Whether later rules are skipped when it matches.
    stop_on_match: bool
    #: What happens if the condition fails to evaluate: skip the rule, or reject the item.
    on_error: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Rule(_RuleRequired, total=False):
    """What a pool does with items that match a condition."""

    #: The action.
    action: RuleAction
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class _ValidateRuleResponseRequired(TypedDict):
    #: Whether it is a valid condition.
    valid: bool
    #: The errors, if it is not.
    errors: List[ConditionError]
    #: The variables that it uses, sorted.
    variables: List[str]
    #: The paths that it reads, sorted, as far as they are static: item.attributes.region.
    paths: List[str]
    #: The static type of its result: bool, or any if unknown.
    result_type: str


class ValidateRuleResponse(_ValidateRuleResponseRequired, total=False):
    """The result of the check."""

    #: Its result for the sample; absent without a sample.
    result: bool
    #: The error of the evaluation on the sample, if any.
    evaluation_error: ConditionError


class ConditionError(TypedDict):
    """An error in a condition, with its position."""

    #: The message for the author.
    message: str
    #: syntax, type or limit if it is not a valid condition; evaluation or budget if it failed on the sample.
    kind: str
    #: The line, from 1; 0 if unknown.
    line: int
    #: The column, from 1; 0 if unknown.
    column: int
    #: The offset in UTF-16 units.
    offset: int


class RuleSample(TypedDict, total=False):
    """A sample for a condition."""

    #: The item.
    item: Mapping[str, Any]
    #: The recipient.
    recipient: Mapping[str, Any]
    #: The pool.
    pool: Mapping[str, Any]
    #: The time; the current one when absent.
    now: str | datetime
