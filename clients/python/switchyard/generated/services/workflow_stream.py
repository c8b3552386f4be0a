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
    from ..types.workflow_stream import AppendWorkflowStreamRecordBatchResponse, AppendWorkflowStreamRecordResponse, ReadWorkflowStreamRecordsResponse, WorkflowStream, WorkflowStreamConsumer, WorkflowStreamPinsInput, WorkflowStreamRecord, WorkflowStreamRecordToAppend

CREATE = Operation("POST", "/api/workflow-streams/runs/{run_id}/streams", body="*", keyed=True)
GET = Operation("GET", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}")
APPEND_RECORD = Operation("POST", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/records", body="*", keyed=True)
APPEND_RECORD_BATCH = Operation("POST", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/records:batch", body="*", keyed=True)
READ_RECORDS = Operation("GET", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/records")
SUBSCRIBE = Operation("GET", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/subscribe", result="stream")
ACKNOWLEDGE = Operation("POST", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/consumers/{consumer_id}/ack", body="*", keyed=True)
REMOVE_CONSUMER = Operation("DELETE", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/consumers/{consumer_id}", keyed=True)
CLOSE = Operation("POST", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/close", body="*", keyed=True)
SET_LEGAL_HOLD = Operation("PUT", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/legal-hold", body="*", keyed=True)


class WorkflowStreamService(Service):
    """Data streams of workflow runs: ordered records that a run, its workers and its consumers exchange."""

    def create(
        self,
        *,
        run_id: str,
        name: str,
        pins: WorkflowStreamPinsInput | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Creates a stream of a run. Its pins never change.

        run_id: The run.
        name: The name: lower-case letters, digits, dots, underscores and hyphens (for example: audit).
        pins: What is fixed about it; defaults when absent.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        run_id: str,
        stream_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Returns the definition of a stream, and how far it is.

        run_id: The run.
        stream_id: The id or the name of the stream.
        """
        return self._call(GET, locals())

    def append_record(
        self,
        *,
        run_id: str,
        stream_id: str,
        payload: Any,
        direction: Literal["", "output", "input"] | None = None,
        content_class: str | None = None,
        schema_ref: str | None = None,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> AppendWorkflowStreamRecordResponse:
        """
        Appends a record at the next sequence. An input record also sends an event to the run.

        run_id: The run.
        stream_id: The id or the name of the stream.
        payload: The payload, at most 64 KiB as JSON. Larger payloads are uploaded as objects.
        direction: output, or input for a record that sends an event to the run; output when empty.
        content_class: One of the pinned classes; may be empty if there is one.
        schema_ref: The schema of the payload.
        wait_s: Seconds to wait for acknowledgements, if the stream is full of unread records and blocks; 20 when absent.
        """
        return self._call(APPEND_RECORD, locals())

    def append_record_batch(
        self,
        *,
        run_id: str,
        stream_id: str,
        records: Sequence[WorkflowStreamRecordToAppend],
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> AppendWorkflowStreamRecordBatchResponse:
        """
        Appends records at the next sequences, without other records in between. If not all of them fit, the longest prefix that fits is appended. If not even the first fits, nothing is appended and the call fails as an append of one record does.

        run_id: The run.
        stream_id: The id or the name of the stream.
        records: The records, in the order of their sequences.
        wait_s: Seconds to wait until the first record fits, if the stream is full of unread records and blocks; 20 when absent.
        """
        return self._call(APPEND_RECORD_BATCH, locals())

    def read_records(
        self,
        *,
        run_id: str,
        stream_id: str,
        cursor: int | None = None,
        limit: int | None = None,
        call: CallOptions | None = None,
    ) -> ReadWorkflowStreamRecordsResponse:
        """
        Returns the records after a cursor, in the order of their sequences.

        run_id: The run.
        stream_id: The id or the name of the stream.
        cursor: Only records with a greater sequence; 0 for all.
        limit: The most records to return: 50 when 0 or less, 1000 at most. Fewer are returned if they are large.
        """
        return self._call(READ_RECORDS, locals())

    def subscribe(
        self,
        *,
        run_id: str,
        stream_id: str,
        cursor: int | None = None,
        call: CallOptions | None = None,
    ) -> EventStream[WorkflowStreamRecord]:
        """
        Follows a stream: first the records after the cursor, then new records as they are appended. Ends after the last record of a closed stream.

        run_id: The run.
        stream_id: The id or the name of the stream.
        cursor: The sequence of the last received record; 0 for all. REST also accepts it in Last-Event-ID.
        """
        return self._call(SUBSCRIBE, locals())

    def acknowledge(
        self,
        *,
        run_id: str,
        stream_id: str,
        consumer_id: str,
        sequence: int | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowStreamConsumer:
        """
        Acknowledges all records up to a sequence. Records that every consumer has acknowledged are read.

        run_id: The run.
        stream_id: The id or the name of the stream.
        consumer_id: The consumer: letters, digits, dots, underscores, colons and hyphens. It exists from its first acknowledgement.
        sequence: The last sequence that is acknowledged; 0 registers a consumer that has read nothing.
        """
        return self._call(ACKNOWLEDGE, locals())

    def remove_consumer(
        self,
        *,
        run_id: str,
        stream_id: str,
        consumer_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Removes a consumer. Its acknowledgements do not count any more, so that it does not keep records unread. A consumer that acknowledges again is a new one.

        run_id: The run.
        stream_id: The id or the name of the stream.
        consumer_id: The consumer.
        """
        return self._call(REMOVE_CONSUMER, locals())

    def close(
        self,
        *,
        run_id: str,
        stream_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Closes a stream: nothing can be appended any more. A closed stream stays closed.

        run_id: The run.
        stream_id: The id or the name of the stream.
        """
        return self._call(CLOSE, locals())

    def set_legal_hold(
        self,
        *,
        run_id: str,
        stream_id: str,
        held: bool,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Sets or releases a legal hold. Nothing of a held stream is removed.

        run_id: The run.
        stream_id: The id or the name of the stream.
        held: Whether the stream is held. Required, so that nobody releases a hold by mistake.
        reason: Why; required to set a hold.
        """
        return self._call(SET_LEGAL_HOLD, locals())


class AsyncWorkflowStreamService(AsyncService):
    """Data streams of workflow runs: ordered records that a run, its workers and its consumers exchange."""

    async def create(
        self,
        *,
        run_id: str,
        name: str,
        pins: WorkflowStreamPinsInput | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Creates a stream of a run. Its pins never change.

        run_id: The run.
        name: The name: lower-case letters, digits, dots, underscores and hyphens (for example: audit).
        pins: What is fixed about it; defaults when absent.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        run_id: str,
        stream_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Returns the definition of a stream, and how far it is.

        run_id: The run.
        stream_id: The id or the name of the stream.
        """
        return await self._call(GET, locals())

    async def append_record(
        self,
        *,
        run_id: str,
        stream_id: str,
        payload: Any,
        direction: Literal["", "output", "input"] | None = None,
        content_class: str | None = None,
        schema_ref: str | None = None,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> AppendWorkflowStreamRecordResponse:
        """
        Appends a record at the next sequence. An input record also sends an event to the run.

        run_id: The run.
        stream_id: The id or the name of the stream.
        payload: The payload, at most 64 KiB as JSON. Larger payloads are uploaded as objects.
        direction: output, or input for a record that sends an event to the run; output when empty.
        content_class: One of the pinned classes; may be empty if there is one.
        schema_ref: The schema of the payload.
        wait_s: Seconds to wait for acknowledgements, if the stream is full of unread records and blocks; 20 when absent.
        """
        return await self._call(APPEND_RECORD, locals())

    async def append_record_batch(
        self,
        *,
        run_id: str,
        stream_id: str,
        records: Sequence[WorkflowStreamRecordToAppend],
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> AppendWorkflowStreamRecordBatchResponse:
        """
        Appends records at the next sequences, without other records in between. If not all of them fit, the longest prefix that fits is appended. If not even the first fits, nothing is appended and the call fails as an append of one record does.

        run_id: The run.
        stream_id: The id or the name of the stream.
        records: The records, in the order of their sequences.
        wait_s: Seconds to wait until the first record fits, if the stream is full of unread records and blocks; 20 when absent.
        """
        return await self._call(APPEND_RECORD_BATCH, locals())

    async def read_records(
        self,
        *,
        run_id: str,
        stream_id: str,
        cursor: int | None = None,
        limit: int | None = None,
        call: CallOptions | None = None,
    ) -> ReadWorkflowStreamRecordsResponse:
        """
        Returns the records after a cursor, in the order of their sequences.

        run_id: The run.
        stream_id: The id or the name of the stream.
        cursor: Only records with a greater sequence; 0 for all.
        limit: The most records to return: 50 when 0 or less, 1000 at most. Fewer are returned if they are large.
        """
        return await self._call(READ_RECORDS, locals())

    def subscribe(
        self,
        *,
        run_id: str,
        stream_id: str,
        cursor: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncEventStream[WorkflowStreamRecord]:
        """
        Follows a stream: first the records after the cursor, then new records as they are appended. Ends after the last record of a closed stream.

        run_id: The run.
        stream_id: The id or the name of the stream.
        cursor: The sequence of the last received record; 0 for all. REST also accepts it in Last-Event-ID.
        """
        return self._stream(SUBSCRIBE, locals())

    async def acknowledge(
        self,
        *,
        run_id: str,
        stream_id: str,
        consumer_id: str,
        sequence: int | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowStreamConsumer:
        """
        Acknowledges all records up to a sequence. Records that every consumer has acknowledged are read.

        run_id: The run.
        stream_id: The id or the name of the stream.
        consumer_id: The consumer: letters, digits, dots, underscores, colons and hyphens. It exists from its first acknowledgement.
        sequence: The last sequence that is acknowledged; 0 registers a consumer that has read nothing.
        """
        return await self._call(ACKNOWLEDGE, locals())

    async def remove_consumer(
        self,
        *,
        run_id: str,
        stream_id: str,
        consumer_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Removes a consumer. Its acknowledgements do not count any more, so that it does not keep records unread. A consumer that acknowledges again is a new one.

        run_id: The run.
        stream_id: The id or the name of the stream.
        consumer_id: The consumer.
        """
        return await self._call(REMOVE_CONSUMER, locals())

    async def close(
        self,
        *,
        run_id: str,
        stream_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Closes a stream: nothing can be appended any more. A closed stream stays closed.

        run_id: The run.
        stream_id: The id or the name of the stream.
        """
        return await self._call(CLOSE, locals())

    async def set_legal_hold(
        self,
        *,
        run_id: str,
        stream_id: str,
        held: bool,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowStream:
        """
        Sets or releases a legal hold. Nothing of a held stream is removed.

        run_id: The run.
        stream_id: The id or the name of the stream.
        held: Whether the stream is held. Required, so that nobody releases a hold by mistake.
        reason: Why; required to set a hold.
        """
        return await self._call(SET_LEGAL_HOLD, locals())
