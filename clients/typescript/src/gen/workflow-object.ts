// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { RawBody } from "../json.ts";

/** Large objects of workflow data streams: payloads of up to 32 MiB that are uploaded first and then committed as a record. */
export interface WorkflowObjectService {
  /** Announces an object with its size and digest. The returned intent expires after 15 minutes, unless it is committed. */
  prepare(request: PrepareWorkflowObjectRequest, options?: CallOptions): Promise<WorkflowObjectIntent>;

  /** Returns an intent: how far the delivery of its object is. */
  getIntent(request: GetWorkflowObjectIntentRequest, options?: CallOptions): Promise<WorkflowObjectIntent>;

  /** Uploads the bytes of an object. REST accepts up to 32 MiB as the raw body. A message of the other protocols is limited by api.max_request_body_size, so that larger objects need REST. Bytes of another size or digest are refused, and the upload can be repeated. */
  upload(request: UploadWorkflowObjectRequest, options?: CallOptions): Promise<WorkflowObjectIntent>;

  /** Appends a record that refers to an uploaded object. A repeated commit returns the sequence of the first. */
  commit(request: CommitWorkflowObjectRequest, options?: CallOptions): Promise<CommitWorkflowObjectResponse>;

  /** Gives up an object that is not committed. Its bytes are removed. */
  abort(request: AbortWorkflowObjectRequest, options?: CallOptions): Promise<WorkflowObjectIntent>;

  /** Returns the bytes of a committed object, or a range of them, in their media type. */
  download(request: DownloadWorkflowObjectRequest, options?: CallOptions): Promise<Response>;
}

const workflowObjectServiceOperations = {
  prepare: { verb: "POST", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects", body: "*", keyed: true },
  getIntent: { verb: "GET", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}/intent" },
  upload: { verb: "PUT", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}", body: "body", keyed: true },
  commit: { verb: "POST", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}:commit", body: "*", keyed: true },
  abort: { verb: "POST", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}:abort", body: "*", keyed: true },
  download: { verb: "GET", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/objects/{intent_id}", result: "raw" },
} as const satisfies Record<keyof WorkflowObjectService, Operation>;

/** Creates the service over a transport. */
export function createWorkflowObjectService(transport: Transport): WorkflowObjectService {
  return bindOperations<WorkflowObjectService>(transport, workflowObjectServiceOperations);
}

/** Announces an object. */
export type PrepareWorkflowObjectRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The SHA-256 of the bytes, in lower-case hexadecimal. */
  readonly sha256: string;
  /** The number of bytes: 1 to 33554432 (32 MiB). */
  readonly size_bytes: number;
  /** The media type of the bytes; application/octet-stream when empty. */
  readonly content_type?: string;
  /** One of the pinned classes; may be empty if there is one. */
  readonly content_class?: string;
  /** The schema of the content. */
  readonly schema_ref?: string;
  /** output, or input for a record that sends an event to the run; output when empty. */
  readonly direction?: "" | "output" | "input";
};

/** The delivery of one large object to a stream. */
export type WorkflowObjectIntent = {
  /** The id, a ULID. It also identifies the committed object. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The run. */
  readonly run_id: string;
  /** The stream. */
  readonly stream_id: string;
  /** prepared, uploaded, committed, aborted or expired. */
  readonly status: string;
  /** The Idempotency-Key of the request that prepared it; empty without one. */
  readonly idempotency_key: string;
  /** The SHA-256 of the bytes, in lower-case hexadecimal. */
  readonly sha256: string;
  /** The number of bytes. */
  readonly size_bytes: number;
  /** The media type of the bytes. */
  readonly content_type: string;
  /** The class of the content. */
  readonly content_class: string;
  /** The schema of the content; empty without one. */
  readonly schema_ref: string;
  /** The direction of the record: output or input. */
  readonly direction: string;
  /** Identifies the decision to allow the upload: the id of the request that was authorized, as in the audit log. */
  readonly authorization_receipt_id: string;
  /** The key of the object, which the service chooses. */
  readonly object_key: string;
  /** The sequence of the record; 0 before the commit. */
  readonly sequence: number;
  /** Who prepared it. */
  readonly created_by: string;
  /** When it was prepared. */
  readonly created_at?: string;
  /** When it expires, unless it is committed. */
  readonly expires_at?: string;
  /** When the bytes were stored. */
  readonly uploaded_at?: string;
  /** When it was committed, aborted or expired. */
  readonly ended_at?: string;
};

/** Returns an intent. */
export type GetWorkflowObjectIntentRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The intent. */
  readonly intent_id: string;
};

/** Uploads an object. */
export type UploadWorkflowObjectRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The intent. */
  readonly intent_id: string;
  /** The bytes. Their media type is the one of the intent. */
  readonly body?: RawBody;
};

/** Commits an object. */
export type CommitWorkflowObjectRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The intent. */
  readonly intent_id: string;
};

/** The committed object. */
export type CommitWorkflowObjectResponse = {
  /** The sequence of the record that refers to it. */
  readonly sequence: number;
  /** The intent. */
  readonly intent?: WorkflowObjectIntent;
};

/** Gives up an object. */
export type AbortWorkflowObjectRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The intent. */
  readonly intent_id: string;
};

/** Downloads an object. */
export type DownloadWorkflowObjectRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The intent. */
  readonly intent_id: string;
  /** One range of bytes, as in the HTTP header Range (for example: bytes=0-1023). All bytes when empty. */
  readonly range?: string;
  /** Ignore the range unless this is the ETag of the object, as in the HTTP header If-Range. */
  readonly if_range?: string;
};
