# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _WorkflowApprovalRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment of the run.
    environment_id: str
    #: The definition of the run.
    definition_id: str
    #: The key of the definition.
    definition_key: str
    #: The run.
    run_id: str
    #: The run key; empty if the run has none.
    run_key: str
    #: The approval step, as a decision names it, such as ask or ask[3].
    step: str
    #: What is to be approved; at most 1,000 characters.
    title: str
    #: Whether the details are absent because they are too large.
    details_omitted: bool
    #: Who may decide: role:<role> or user:<subject>.
    by: List[str]
    #: The number of people who have to approve.
    quorum: int
    #: Whether a decision needs a comment.
    comment_required: bool
    #: The decisions so far, with those that take effect when the run is resumed.
    decisions: List[WorkflowApprovalDecision]
    #: Whether the run is paused. Decisions are accepted, and take effect when it is resumed.
    paused: bool


class WorkflowApproval(_WorkflowApprovalRequired, total=False):
    """An approval that a run waits for."""

    #: The details of the request. Absent if they exceed 32 KiB as JSON.
    details: Any
    #: When the step started.
    opened_at: str
    #: When the step times out.
    due_at: str


class _WorkflowApprovalDecisionRequired(TypedDict):
    #: The subject of the caller.
    by: str
    #: Whether the caller approved.
    approved: bool
    #: The comment.
    comment: str


class WorkflowApprovalDecision(_WorkflowApprovalDecisionRequired, total=False):
    """A person's decision."""

    #: When.
    at: str
