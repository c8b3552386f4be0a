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
    from ..types.workflow_object import CommitWorkflowObjectResponse, WorkflowObjectIntent

PREPARE = Operation("POST", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects", body="*", keyed=True)
GET_INTENT = Operation("GET", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}/intent")
UPLOAD = Operation("PUT", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}", body="body", keyed=True)
COMMIT = Operation("POST", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}:commit", body="*", keyed=True)
ABORT = Operation("POST", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}:abort", body="*", keyed=True)
DOWNLOAD = Operation("GET", "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}", result="raw")


class WorkflowObjectService(Service):
    """Large objects of workflow data streams: payloads of up to 32 MiB that are uploaded first and then committed as a record."""

    def prepare(
        self,
        *,
        run_id: str,
        stream_id: str,
        sha256: str,
        size_bytes: int,
        content_type: str | None = None,
        content_class: str | None = None,
        schema_ref: str | None = None,
        direction: Literal["", "output", "input"] | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowObjectIntent:
        """
        Announces an object with its size and digest. The returned intent expires after 15 minutes, unless it is committed.

        run_id: The run.
        stream_id: The id or the name of the stream.
        sha256: The SHA-256 of the bytes, in lower-case hexadecimal.
        size_bytes: The number of bytes: 1 to 33554432 (32 MiB).
        content_type: The media type of the bytes; application/octet-stream when empty.
        content_class: One of the pinned classes; may be empty if there is one.
        schema_ref: The schema of the content.
        direction: output, or input for a record that sends an event to the run; output when empty.
        """
        return self._call(PREPARE, locals())

    def get_intent(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowObjectIntent:
        """
        Returns an intent: how far the delivery of its object is.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        """
        return self._call(GET_INTENT, locals())

    def upload(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        body: bytes | str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowObjectIntent:
        """
        Uploads the bytes of an object. REST accepts up to 32 MiB as the raw body. A message of the other protocols is limited by api.max_request_body_size, so that larger objects need REST. Bytes of another size or digest are refused, and the upload can be repeated.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        body: The bytes. Their media type is the one of the intent.
        """
        return self._call(UPLOAD, locals())

    def commit(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        call: CallOptions | None = None,
    ) -> CommitWorkflowObjectResponse:
        """
        Appends a record that refers to an uploaded object. A repeated commit returns the sequence of the first.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        """
        return self._call(COMMIT, locals())

    def abort(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowObjectIntent:
        """
        Gives up an object that is not committed. Its bytes are removed.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        """
        return self._call(ABORT, locals())

    def download(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        range: str | None = None,
        if_range: str | None = None,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """
        Returns the bytes of a committed object, or a range of them, in their media type.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        range: One range of bytes, as in the HTTP header Range (for example: bytes=0-1023). All bytes when empty.
        if_range: Ignore the range unless this is the ETag of the object, as in the HTTP header If-Range.
        """
        return self._call(DOWNLOAD, locals())


class AsyncWorkflowObjectService(AsyncService):
    """Large objects of workflow data streams: payloads of up to 32 MiB that are uploaded first and then committed as a record."""

    async def prepare(
        self,
        *,
        run_id: str,
        stream_id: str,
        sha256: str,
        size_bytes: int,
        content_type: str | None = None,
        content_class: str | None = None,
        schema_ref: str | None = None,
        direction: Literal["", "output", "input"] | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowObjectIntent:
        """
        Announces an object with its size and digest. The returned intent expires after 15 minutes, unless it is committed.

        run_id: The run.
        stream_id: The id or the name of the stream.
        sha256: The SHA-256 of the bytes, in lower-case hexadecimal.
        size_bytes: The number of bytes: 1 to 33554432 (32 MiB).
        content_type: The media type of the bytes; application/octet-stream when empty.
        content_class: One of the pinned classes; may be empty if there is one.
        schema_ref: The schema of the content.
        direction: output, or input for a record that sends an event to the run; output when empty.
        """
        return await self._call(PREPARE, locals())

    async def get_intent(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowObjectIntent:
        """
        Returns an intent: how far the delivery of its object is.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        """
        return await self._call(GET_INTENT, locals())

    async def upload(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        body: bytes | str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowObjectIntent:
        """
        Uploads the bytes of an object. REST accepts up to 32 MiB as the raw body. A message of the other protocols is limited by api.max_request_body_size, so that larger objects need REST. Bytes of another size or digest are refused, and the upload can be repeated.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        body: The bytes. Their media type is the one of the intent.
        """
        return await self._call(UPLOAD, locals())

    async def commit(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        call: CallOptions | None = None,
    ) -> CommitWorkflowObjectResponse:
        """
        Appends a record that refers to an uploaded object. A repeated commit returns the sequence of the first.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        """
        return await self._call(COMMIT, locals())

    async def abort(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        call: CallOptions | None = None,
    ) -> WorkflowObjectIntent:
        """
        Gives up an object that is not committed. Its bytes are removed.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        """
        return await self._call(ABORT, locals())

    async def download(
        self,
        *,
        run_id: str,
        stream_id: str,
        intent_id: str,
        range: str | None = None,
        if_range: str | None = None,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """
        Returns the bytes of a committed object, or a range of them, in their media type.

        run_id: The run.
        stream_id: The id or the name of the stream.
        intent_id: The intent.
        range: One range of bytes, as in the HTTP header Range (for example: bytes=0-1023). All bytes when empty.
        if_range: Ignore the range unless this is the ETag of the object, as in the HTTP header If-Range.
        """
        return await self._call(DOWNLOAD, locals())
