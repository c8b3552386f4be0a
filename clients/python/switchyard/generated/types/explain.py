# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class Explanation(TypedDict):
    """What happened to something, why, and what it waits for."""

    #: The id that was asked about.
    id: str
    #: decision, queue_item, notification_delivery, notification_run, webhook_delivery, workflow_run or connector_execution. A routed item is both a decision and a queue item with the same id; the explanation has both.
    kinds: List[str]
    #: The current status.
    status: str
    #: The explanation in a few sentences.
    summary: str
    #: What happened, in order.
    steps: List[ExplanationStep]
    #: What it waits for; empty if it has ended.
    waits: List[ExplanationWait]
    #: What would help; empty if nothing has to be done.
    remedies: List[str]
    #: Related records.
    links: List[ExplanationLink]


class _ExplanationStepRequired(TypedDict):
    #: A stable code, such as eligibility, leased or attempt.
    code: str
    #: What it is about, such as the id of a rule or a recipient; empty for the record itself.
    subject: str
    #: What happened and why.
    message: str
    #: What came of it, such as matched for a rule; empty if the code says so.
    result: str


class ExplanationStep(_ExplanationStepRequired, total=False):
    """Something that happened."""

    #: When it happened, if it is known.
    at: str
    #: The values that decided it: what a rule read of the item or the recipient, or what the strategy compared of a recipient, such as its load or cost.
    values: Dict[str, Any]


class _ExplanationWaitRequired(TypedDict):
    #: A stable code, such as waiting_for_approval.
    code: str
    #: What is waited for.
    message: str
    #: What would end the wait.
    remedy: str


class ExplanationWait(_ExplanationWaitRequired, total=False):
    """Something that is waited for."""

    #: Since when, if it is known.
    since: str
    #: Until when at most, if there is an end.
    until: str


class ExplanationLink(TypedDict):
    """A related record."""

    #: What it is to the explained record, such as pool, recipient or dead_letter.
    relation: str
    #: The id of the related record.
    id: str
    #: The path of the operation that reads it.
    path: str
    #: Whether it can be explained as well.
    explainable: bool
