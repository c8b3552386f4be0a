# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _WorkflowObjectIntentRequired(TypedDict):
    #: The id, a ULID. It also identifies the committed object.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The run.
    run_id: str
    #: The stream.
    stream_id: str
    #: prepared, uploaded, committed, aborted or expired.
    status: str
    #: The Idempotency-Key of the request that prepared it; empty without one.
    idempotency_key: str
    #: The SHA-256 of the bytes, in lower-case hexadecimal.
    sha256: str
    #: The number of bytes.
    size_bytes: int
    #: The media type of the bytes.
    content_type: str
    #: The class of the content.
    content_class: str
    #: The schema of the content; empty without one.
    schema_ref: str
    #: The direction of the record: output or input.
    direction: str
    #: Identifies the decision to allow the upload: the id of the request that was authorized, as in the audit log.
    authorization_receipt_id: str
    #: The key of the object, which the service chooses.
    object_key: str
    #: The sequence of the record; 0 before the commit.
    sequence: int
    #: Who prepared it.
    created_by: str


class WorkflowObjectIntent(_WorkflowObjectIntentRequired, total=False):
    """The delivery of one large object to a stream."""

    #: When it was prepared.
    created_at: str
    #: When it expires, unless it is committed.
    expires_at: str
    #: When the bytes were stored.
    uploaded_at: str
    #: When it was committed, aborted or expired.
    ended_at: str


class _CommitWorkflowObjectResponseRequired(TypedDict):
    #: The sequence of the record that refers to it.
    sequence: int


class CommitWorkflowObjectResponse(_CommitWorkflowObjectResponseRequired, total=False):
    """The committed object."""

    #: The intent.
    intent: WorkflowObjectIntent
