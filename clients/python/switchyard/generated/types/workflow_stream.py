# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _WorkflowStreamRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The run.
    run_id: str
    #: The environment of the run.
    environment_id: str
    #: The name, unique in the run.
    name: str
    #: The SHA-256 of the pins.
    digest: str
    #: open or closed.
    status: str
    #: The sequence of the earliest record that is kept; latest_sequence + 1 if none is.
    earliest_sequence: int
    #: The sequence of the latest record; 0 before the first.
    latest_sequence: int
    #: The number of records that are kept.
    items: int
    #: The bytes of the records that are kept.
    bytes: int
    #: The number of kept records that not every consumer has acknowledged.
    unread_items: int
    #: The bytes of those records.
    unread_bytes: int
    #: Who created it.
    created_by: str
    #: The number of consumers.
    consumers: int


class WorkflowStream(_WorkflowStreamRequired, total=False):
    """A data stream of a run."""

    #: What is fixed about it.
    pins: WorkflowStreamPins
    #: The legal hold, if there is one.
    hold: WorkflowStreamHold
    #: When it was created.
    created_at: str
    #: When it was closed.
    closed_at: str
    #: The consumer that has acknowledged the least; absent without consumers.
    slowest_consumer: WorkflowStreamConsumer


class _WorkflowStreamPinsRequired(TypedDict):
    #: The region in which records are stored, appended and acknowledged; that of the node when empty.
    metadata_home: str
    #: Further regions from which records can be read.
    metadata_replicas: List[str]
    #: The regions in which large objects are stored; metadata_home when empty.
    object_regions: List[str]
    #: The regions from which payloads are sent to clients; metadata_home when empty.
    egress_regions: List[str]
    #: The region whose nodes may log about the stream; metadata_home when empty. Nodes of other regions write no lines about it to their logs. Payloads are never logged.
    log_region: str
    #: What is removed from payloads before they are stored.
    redaction: List[WorkflowStreamRedaction]
    #: The classes of content that records may have; data when empty.
    content_classes: List[str]
    #: What an append does when too much is unread: block waits for acknowledgements for a time, reject fails at once. block when empty.
    on_unread_full: str
    #: Seconds after which a consumer is removed, if it has acknowledged nothing for so long although a record is that old and unread; never when 0. Consumers are checked once a minute.
    consumer_idle_max_s: int


class WorkflowStreamPins(_WorkflowStreamPinsRequired, total=False):
    """What is fixed when a stream is created."""

    #: How long records are kept.
    retention: WorkflowStreamRetention
    #: Who may read and append, in addition to the scopes of the operations.
    authorization: WorkflowStreamAuthorization
    #: How much the stream may hold.
    ceilings: WorkflowStreamCeilings


class WorkflowStreamRetention(TypedDict):
    """How long records are kept."""

    #: Seconds after which a record is removed; 604800 (7 days) when 0.
    max_age_s: int


class WorkflowStreamRedaction(TypedDict):
    """A part of payloads that is not stored."""

    #: The part, as a JSON pointer; * is any member or element (for example: /customer/email).
    path: str
    #: drop removes it, mask replaces it with ***, hash with a keyed hash that is the same for equal values of the stream.
    action: str


class WorkflowStreamAuthorization(TypedDict):
    """Who may use a stream."""

    #: Who may read, subscribe and acknowledge: role:<role> or user:<subject>. Everybody with the scope when empty.
    readers: List[str]
    #: Who may append and close: role:<role> or user:<subject>. Everybody with the scope when empty.
    writers: List[str]


class WorkflowStreamCeilings(TypedDict):
    """How much a stream may hold."""

    #: Records that not every consumer has acknowledged; 10000 when 0.
    unread_items: int
    #: The bytes of those records; 67108864 (64 MiB) when 0.
    unread_bytes: int
    #: Records that are kept; 1000000 when 0.
    total_items: int
    #: The bytes of those records; 1073741824 (1 GiB) when 0.
    total_bytes: int


class _WorkflowStreamHoldRequired(TypedDict):
    #: Who set it.
    by: str
    #: Why.
    reason: str


class WorkflowStreamHold(_WorkflowStreamHoldRequired, total=False):
    """A legal hold of a stream."""

    #: When it was set.
    since: str


class _WorkflowStreamConsumerRequired(TypedDict):
    #: The id, chosen by the consumer.
    consumer_id: str
    #: The last sequence that it has acknowledged.
    sequence: int
    #: The number of kept records after it.
    unread_items: int
    #: The bytes of those records.
    unread_bytes: int


class WorkflowStreamConsumer(_WorkflowStreamConsumerRequired, total=False):
    """A consumer of a stream."""

    #: When it has acknowledged last.
    acknowledged_at: str


class WorkflowStreamPinsInput(TypedDict, total=False):
    """What is fixed when a stream is created."""

    #: The region in which records are stored, appended and acknowledged; that of the node when empty.
    metadata_home: str
    #: Further regions from which records can be read.
    metadata_replicas: Sequence[str]
    #: The regions in which large objects are stored; metadata_home when empty.
    object_regions: Sequence[str]
    #: The regions from which payloads are sent to clients; metadata_home when empty.
    egress_regions: Sequence[str]
    #: The region whose nodes may log about the stream; metadata_home when empty. Nodes of other regions write no lines about it to their logs. Payloads are never logged.
    log_region: str
    #: How long records are kept.
    retention: WorkflowStreamRetentionInput
    #: What is removed from payloads before they are stored.
    redaction: Sequence[WorkflowStreamRedactionInput]
    #: Who may read and append, in addition to the scopes of the operations.
    authorization: WorkflowStreamAuthorizationInput
    #: The classes of content that records may have; data when empty.
    content_classes: Sequence[str]
    #: How much the stream may hold.
    ceilings: WorkflowStreamCeilingsInput
    #: What an append does when too much is unread: block waits for acknowledgements for a time, reject fails at once. block when empty.
    on_unread_full: Literal["", "block", "reject"]
    #: Seconds after which a consumer is removed, if it has acknowledged nothing for so long although a record is that old and unread; never when 0. Consumers are checked once a minute.
    consumer_idle_max_s: int


class WorkflowStreamRetentionInput(TypedDict, total=False):
    """How long records are kept."""

    #: Seconds after which a record is removed; 604800 (7 days) when 0.
    max_age_s: int


class WorkflowStreamRedactionInput(TypedDict):
    """A part of payloads that is not stored."""

    #: The part, as a JSON pointer; * is any member or element (for example: /customer/email).
    path: str
    #: drop removes it, mask replaces it with ***, hash with a keyed hash that is the same for equal values of the stream.
    action: Literal["drop", "mask", "hash"]


class WorkflowStreamAuthorizationInput(TypedDict, total=False):
    """Who may use a stream."""

    #: Who may read, subscribe and acknowledge: role:<role> or user:<subject>. Everybody with the scope when empty.
    readers: Sequence[str]
    #: Who may append and close: role:<role> or user:<subject>. Everybody with the scope when empty.
    writers: Sequence[str]


class WorkflowStreamCeilingsInput(TypedDict, total=False):
    """How much a stream may hold."""

    #: Records that not every consumer has acknowledged; 10000 when 0.
    unread_items: int
    #: The bytes of those records; 67108864 (64 MiB) when 0.
    unread_bytes: int
    #: Records that are kept; 1000000 when 0.
    total_items: int
    #: The bytes of those records; 1073741824 (1 GiB) when 0.
    total_bytes: int


class _AppendWorkflowStreamRecordResponseRequired(TypedDict):
    #: Its sequence.
    sequence: int


class AppendWorkflowStreamRecordResponse(_AppendWorkflowStreamRecordResponseRequired, total=False):
    """The appended record."""

    #: When it was appended.
    appended_at: str


class _AppendWorkflowStreamRecordBatchResponseRequired(TypedDict):
    #: The sequence of the first record.
    first_sequence: int
    #: The sequence of the last appended record.
    last_sequence: int
    #: How many records were appended: all, or those before the first that did not fit.
    appended: int
    #: How many records were not appended.
    refused: int
    #: Why, as the code of an error: STREAM_BACKPRESSURE (too much is unread: send them again later) or STREAM_QUOTA_EXHAUSTED; empty if all were appended.
    refused_code: str


class AppendWorkflowStreamRecordBatchResponse(_AppendWorkflowStreamRecordBatchResponseRequired, total=False):
    """What was appended."""

    #: When they were appended.
    appended_at: str


class _WorkflowStreamRecordToAppendRequired(TypedDict):
    #: The payload, at most 64 KiB as JSON. Larger payloads are uploaded as objects.
    payload: Any


class WorkflowStreamRecordToAppend(_WorkflowStreamRecordToAppendRequired, total=False):
    """A record of a batch."""

    #: output, or input for a record that sends an event to the run; output when empty.
    direction: Literal["", "output", "input"]
    #: One of the pinned classes; may be empty if there is one.
    content_class: str
    #: The schema of the payload.
    schema_ref: str


class ReadWorkflowStreamRecordsResponse(TypedDict):
    """Records after a cursor."""

    #: The records, in the order of their sequences.
    records: List[WorkflowStreamRecord]
    #: The cursor of the next read: the sequence of the last record, or the cursor of the request without records.
    next_cursor: int
    #: The sequence of the earliest record that is kept.
    earliest_sequence: int
    #: The sequence of the latest record.
    latest_sequence: int
    #: Whether nothing can be appended any more.
    closed: bool


class _WorkflowStreamRecordRequired(TypedDict):
    #: The position in the stream, from 1.
    sequence: int
    #: output: from the run. input: for the run, which gets an event.
    direction: str
    #: The class of its content.
    content_class: str
    #: The schema of the payload; empty without one.
    schema_ref: str
    #: The bytes that count towards the ceilings: those of the stored payload as JSON, or of the object.
    bytes: int


class WorkflowStreamRecord(_WorkflowStreamRecordRequired, total=False):
    """A record of a stream: a payload, or a reference to a large object."""

    #: The payload, redacted as pinned.
    payload: Any
    #: The large object, instead of a payload.
    object: WorkflowStreamObject
    #: When it was appended.
    appended_at: str


class WorkflowStreamObject(TypedDict):
    """A large object that a record refers to."""

    #: The key of the object.
    object_key: str
    #: The SHA-256 of its bytes, in hexadecimal.
    sha256: str
    #: Its size.
    size_bytes: int
    #: Its id, for the download: the intent that it was committed with.
    object_id: str
    #: The media type of its bytes.
    content_type: str
