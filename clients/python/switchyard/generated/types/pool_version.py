# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .pool import PoolConfig
    from .rule import RuleAction, RuleActionInput


class _PoolVersionRequired(TypedDict):
    #: The pool.
    pool_id: str
    #: The number of the version, from 1.
    version: int
    #: The SHA-256 of the content.
    sha256: str
    #: Whether the pool has this content.
    active: bool
    #: change (captured from a change of the pool) or staged.
    origin: str
    #: What is new, for people.
    message: str
    #: Who made the change or staged the version.
    created_by: str
    #: The strategy; empty in lists, as are the next fields.
    strategy: str
    #: The rules, in the order in which they apply.
    rules: List[PoolVersionRule]
    #: The content as canonical JSON: the bytes that the digest is of.
    content: str


class PoolVersion(_PoolVersionRequired, total=False):
    """What a pool routes by, without recipients."""

    #: When.
    created_at: str
    #: The part of the config that is set explicitly.
    config: PoolConfig


class _PoolVersionRuleRequired(TypedDict):
    #: The rule's id. In a new version: the id of a rule of the pool that it replaces; empty for a new rule.
    id: str
    #: The display name.
    name: str
    #: CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty.
    condition: str


class PoolVersionRule(_PoolVersionRuleRequired, total=False):
    """A rule of a version."""

    #: Lower applies first; default 100.
    priority: int
    #: Whether it applies; default true.
    enabled: bool
    #: Whether later rules are skipped when it matches; default true.
    stop_on_match: bool
    #: What happens if the condition fails to evaluate: skip (default) or reject.
    on_error: str
    #: The action.
    action: RuleAction


class PoolVersionRules(TypedDict, total=False):
    """The rules of a new version."""

    #: The rules; rules of equal priority apply in this order.
    rules: Sequence[PoolVersionRuleInput]


class _PoolVersionRuleInputRequired(TypedDict):
    #: The display name.
    name: str
    #: The action.
    action: RuleActionInput


class PoolVersionRuleInput(_PoolVersionRuleInputRequired, total=False):
    """A rule of a version."""

    #: The rule's id. In a new version: the id of a rule of the pool that it replaces; empty for a new rule.
    id: str
    #: Lower applies first; default 100.
    priority: int
    #: CEL over item, pool and now, and over recipient if the action is require or prefer; always true when empty.
    condition: str
    #: Whether it applies; default true.
    enabled: bool
    #: Whether later rules are skipped when it matches; default true.
    stop_on_match: bool
    #: What happens if the condition fails to evaluate: skip (default) or reject.
    on_error: Literal["skip", "reject"]


class PoolVersionDiff(TypedDict):
    """The differences between two versions of a pool."""

    #: The version.
    version: int
    #: The version that it was compared with.
    against: int
    #: The differences; empty if both have the same content.
    changes: List[PoolVersionDiffChange]


class PoolVersionDiffChange(TypedDict):
    """A difference."""

    #: `strategy`, a section of the config (`config.lease`), or `rules.` and an id.
    path: str
    #: added, removed or changed.
    change: str
    #: The name of a rule.
    name: str
    #: The value of the version that was compared with, as JSON; empty for none.
    before: str
    #: The value of the version, as JSON; empty for none.
    after: str
