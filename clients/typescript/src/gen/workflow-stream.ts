// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { EventStream } from "../streams/event-stream.ts";
import type { JsonValue } from "../json.ts";

/** Data streams of workflow runs: ordered records that a run, its workers and its consumers exchange. */
export interface WorkflowStreamService {
  /** Creates a stream of a run. Its pins never change. */
  create(request: CreateWorkflowStreamRequest, options?: CallOptions): Promise<WorkflowStream>;

  /** Returns the definition of a stream, and how far it is. */
  get(request: GetWorkflowStreamRequest, options?: CallOptions): Promise<WorkflowStream>;

  /** Appends a record at the next sequence. An input record also sends an event to the run. */
  appendRecord(request: AppendWorkflowStreamRecordRequest, options?: CallOptions): Promise<AppendWorkflowStreamRecordResponse>;

  /** Appends records at the next sequences, without other records in between. If not all of them fit, the longest prefix that fits is appended. If not even the first fits, nothing is appended and the call fails as an append of one record does. */
  appendRecordBatch(request: AppendWorkflowStreamRecordBatchRequest, options?: CallOptions): Promise<AppendWorkflowStreamRecordBatchResponse>;

  /** Returns the records after a cursor, in the order of their sequences. */
  readRecords(request: ReadWorkflowStreamRecordsRequest, options?: CallOptions): Promise<ReadWorkflowStreamRecordsResponse>;

  /** Follows a stream: first the records after the cursor, then new records as they are appended. Ends after the last record of a closed stream. */
  subscribe(request: SubscribeWorkflowStreamRequest, options?: CallOptions): EventStream<WorkflowStreamRecord>;

  /** Acknowledges all records up to a sequence. Records that every consumer has acknowledged are read. */
  acknowledge(request: AcknowledgeWorkflowStreamRequest, options?: CallOptions): Promise<WorkflowStreamConsumer>;

  /** Removes a consumer. Its acknowledgements do not count any more, so that it does not keep records unread. A consumer that acknowledges again is a new one. */
  removeConsumer(request: RemoveWorkflowStreamConsumerRequest, options?: CallOptions): Promise<WorkflowStream>;

  /** Closes a stream: nothing can be appended any more. A closed stream stays closed. */
  close(request: CloseWorkflowStreamRequest, options?: CallOptions): Promise<WorkflowStream>;

  /** Sets or releases a legal hold. Nothing of a held stream is removed. */
  setLegalHold(request: SetWorkflowStreamLegalHoldRequest, options?: CallOptions): Promise<WorkflowStream>;
}

const workflowStreamServiceOperations = {
  create: { verb: "POST", path: "/api/workflow-streams/runs/{run_id}/streams", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}" },
  appendRecord: { verb: "POST", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/records", body: "*", keyed: true },
  appendRecordBatch: { verb: "POST", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/records:batch", body: "*", keyed: true },
  readRecords: { verb: "GET", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/records" },
  subscribe: { verb: "GET", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/subscribe", result: "stream" },
  acknowledge: { verb: "POST", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/consumers/{consumer_id}/ack", body: "*", keyed: true },
  removeConsumer: { verb: "DELETE", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/consumers/{consumer_id}", keyed: true },
  close: { verb: "POST", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/close", body: "*", keyed: true },
  setLegalHold: { verb: "PUT", path: "/api/workflow-streams/runs/{run_id}/streams/{stream_id}/legal-hold", body: "*", keyed: true },
} as const satisfies Record<keyof WorkflowStreamService, Operation>;

/** Creates the service over a transport. */
export function createWorkflowStreamService(transport: Transport): WorkflowStreamService {
  return bindOperations<WorkflowStreamService>(transport, workflowStreamServiceOperations);
}

/** What is fixed when a stream is created. */
export type WorkflowStreamPinsInput = {
  /** The region in which records are stored, appended and acknowledged; that of the node when empty. */
  readonly metadata_home?: string;
  /** Further regions from which records can be read. */
  readonly metadata_replicas?: readonly string[];
  /** The regions in which large objects are stored; metadata_home when empty. */
  readonly object_regions?: readonly string[];
  /** The regions from which payloads are sent to clients; metadata_home when empty. */
  readonly egress_regions?: readonly string[];
  /** The region whose nodes may log about the stream; metadata_home when empty. Nodes of other regions write no lines about it to their logs. Payloads are never logged. */
  readonly log_region?: string;
  /** How long records are kept. */
  readonly retention?: WorkflowStreamRetentionInput;
  /** What is removed from payloads before they are stored. */
  readonly redaction?: readonly WorkflowStreamRedactionInput[];
  /** Who may read and append, in addition to the scopes of the operations. */
  readonly authorization?: WorkflowStreamAuthorizationInput;
  /** The classes of content that records may have; data when empty. */
  readonly content_classes?: readonly string[];
  /** How much the stream may hold. */
  readonly ceilings?: WorkflowStreamCeilingsInput;
  /** What an append does when too much is unread: block waits for acknowledgements for a time, reject fails at once. block when empty. */
  readonly on_unread_full?: "" | "block" | "reject";
  /** Seconds after which a consumer is removed, if it has acknowledged nothing for so long although a record is that old and unread; never when 0. Consumers are checked once a minute. */
  readonly consumer_idle_max_s?: number;
};

/** How long records are kept. */
export type WorkflowStreamRetentionInput = {
  /** Seconds after which a record is removed; 604800 (7 days) when 0. */
  readonly max_age_s?: number;
};

/** A part of payloads that is not stored. */
export type WorkflowStreamRedactionInput = {
  /** The part, as a JSON pointer; * is any member or element (for example: /customer/email). */
  readonly path: string;
  /** drop removes it, mask replaces it with ***, hash with a keyed hash that is the same for equal values of the stream. */
  readonly action: "drop" | "mask" | "hash";
};

/** Who may use a stream. */
export type WorkflowStreamAuthorizationInput = {
  /** Who may read, subscribe and acknowledge: role:<role> or user:<subject>. Everybody with the scope when empty. */
  readonly readers?: readonly string[];
  /** Who may append and close: role:<role> or user:<subject>. Everybody with the scope when empty. */
  readonly writers?: readonly string[];
};

/** How much a stream may hold. */
export type WorkflowStreamCeilingsInput = {
  /** Records that not every consumer has acknowledged; 10000 when 0. */
  readonly unread_items?: number;
  /** The bytes of those records; 67108864 (64 MiB) when 0. */
  readonly unread_bytes?: number;
  /** Records that are kept; 1000000 when 0. */
  readonly total_items?: number;
  /** The bytes of those records; 1073741824 (1 GiB) when 0. */
  readonly total_bytes?: number;
};

/** Creates a stream. */
export type CreateWorkflowStreamRequest = {
  /** The run. */
  readonly run_id: string;
  /** The name: lower-case letters, digits, dots, underscores and hyphens (for example: audit). */
  readonly name: string;
  /** What is fixed about it; defaults when absent. */
  readonly pins?: WorkflowStreamPinsInput;
};

/** A data stream of a run. */
export type WorkflowStream = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The run. */
  readonly run_id: string;
  /** The environment of the run. */
  readonly environment_id: string;
  /** The name, unique in the run. */
  readonly name: string;
  /** What is fixed about it. */
  readonly pins?: WorkflowStreamPins;
  /** The SHA-256 of the pins. */
  readonly digest: string;
  /** open or closed. */
  readonly status: string;
  /** The sequence of the earliest record that is kept; latest_sequence + 1 if none is. */
  readonly earliest_sequence: number;
  /** The sequence of the latest record; 0 before the first. */
  readonly latest_sequence: number;
  /** The number of records that are kept. */
  readonly items: number;
  /** The bytes of the records that are kept. */
  readonly bytes: number;
  /** The number of kept records that not every consumer has acknowledged. */
  readonly unread_items: number;
  /** The bytes of those records. */
  readonly unread_bytes: number;
  /** The legal hold, if there is one. */
  readonly hold?: WorkflowStreamHold;
  /** Who created it. */
  readonly created_by: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it was closed. */
  readonly closed_at?: string;
  /** The number of consumers. */
  readonly consumers: number;
  /** The consumer that has acknowledged the least; absent without consumers. */
  readonly slowest_consumer?: WorkflowStreamConsumer;
};

/** What is fixed when a stream is created. */
export type WorkflowStreamPins = {
  /** The region in which records are stored, appended and acknowledged; that of the node when empty. */
  readonly metadata_home: string;
  /** Further regions from which records can be read. */
  readonly metadata_replicas: readonly string[];
  /** The regions in which large objects are stored; metadata_home when empty. */
  readonly object_regions: readonly string[];
  /** The regions from which payloads are sent to clients; metadata_home when empty. */
  readonly egress_regions: readonly string[];
  /** The region whose nodes may log about the stream; metadata_home when empty. Nodes of other regions write no lines about it to their logs. Payloads are never logged. */
  readonly log_region: string;
  /** How long records are kept. */
  readonly retention?: WorkflowStreamRetention;
  /** What is removed from payloads before they are stored. */
  readonly redaction: readonly WorkflowStreamRedaction[];
  /** Who may read and append, in addition to the scopes of the operations. */
  readonly authorization?: WorkflowStreamAuthorization;
  /** The classes of content that records may have; data when empty. */
  readonly content_classes: readonly string[];
  /** How much the stream may hold. */
  readonly ceilings?: WorkflowStreamCeilings;
  /** What an append does when too much is unread: block waits for acknowledgements for a time, reject fails at once. block when empty. */
  readonly on_unread_full: string;
  /** Seconds after which a consumer is removed, if it has acknowledged nothing for so long although a record is that old and unread; never when 0. Consumers are checked once a minute. */
  readonly consumer_idle_max_s: number;
};

/** How long records are kept. */
export type WorkflowStreamRetention = {
  /** Seconds after which a record is removed; 604800 (7 days) when 0. */
  readonly max_age_s: number;
};

/** A part of payloads that is not stored. */
export type WorkflowStreamRedaction = {
  /** The part, as a JSON pointer; * is any member or element (for example: /customer/email). */
  readonly path: string;
  /** drop removes it, mask replaces it with ***, hash with a keyed hash that is the same for equal values of the stream. */
  readonly action: string;
};

/** Who may use a stream. */
export type WorkflowStreamAuthorization = {
  /** Who may read, subscribe and acknowledge: role:<role> or user:<subject>. Everybody with the scope when empty. */
  readonly readers: readonly string[];
  /** Who may append and close: role:<role> or user:<subject>. Everybody with the scope when empty. */
  readonly writers: readonly string[];
};

/** How much a stream may hold. */
export type WorkflowStreamCeilings = {
  /** Records that not every consumer has acknowledged; 10000 when 0. */
  readonly unread_items: number;
  /** The bytes of those records; 67108864 (64 MiB) when 0. */
  readonly unread_bytes: number;
  /** Records that are kept; 1000000 when 0. */
  readonly total_items: number;
  /** The bytes of those records; 1073741824 (1 GiB) when 0. */
  readonly total_bytes: number;
};

/** A legal hold of a stream. */
export type WorkflowStreamHold = {
  /** Who set it. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
  /** When it was set. */
  readonly since?: string;
};

/** A consumer of a stream. */
export type WorkflowStreamConsumer = {
  /** The id, chosen by the consumer. */
  readonly consumer_id: string;
  /** The last sequence that it has acknowledged. */
  readonly sequence: number;
  /** The number of kept records after it. */
  readonly unread_items: number;
  /** The bytes of those records. */
  readonly unread_bytes: number;
  /** When it has acknowledged last. */
  readonly acknowledged_at?: string;
};

/** Returns a stream. */
export type GetWorkflowStreamRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
};

/** Appends a record. */
export type AppendWorkflowStreamRecordRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The payload, at most 64 KiB as JSON. Larger payloads are uploaded as objects. */
  readonly payload: unknown;
  /** output, or input for a record that sends an event to the run; output when empty. */
  readonly direction?: "" | "output" | "input";
  /** One of the pinned classes; may be empty if there is one. */
  readonly content_class?: string;
  /** The schema of the payload. */
  readonly schema_ref?: string;
  /** Seconds to wait for acknowledgements, if the stream is full of unread records and blocks; 20 when absent. */
  readonly wait_s?: number;
};

/** The appended record. */
export type AppendWorkflowStreamRecordResponse = {
  /** Its sequence. */
  readonly sequence: number;
  /** When it was appended. */
  readonly appended_at?: string;
};

/** A record of a batch. */
export type WorkflowStreamRecordToAppend = {
  /** The payload, at most 64 KiB as JSON. Larger payloads are uploaded as objects. */
  readonly payload: unknown;
  /** output, or input for a record that sends an event to the run; output when empty. */
  readonly direction?: "" | "output" | "input";
  /** One of the pinned classes; may be empty if there is one. */
  readonly content_class?: string;
  /** The schema of the payload. */
  readonly schema_ref?: string;
};

/** Appends records. */
export type AppendWorkflowStreamRecordBatchRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The records, in the order of their sequences. */
  readonly records: readonly WorkflowStreamRecordToAppend[];
  /** Seconds to wait until the first record fits, if the stream is full of unread records and blocks; 20 when absent. */
  readonly wait_s?: number;
};

/** What was appended. */
export type AppendWorkflowStreamRecordBatchResponse = {
  /** The sequence of the first record. */
  readonly first_sequence: number;
  /** The sequence of the last appended record. */
  readonly last_sequence: number;
  /** How many records were appended: all, or those before the first that did not fit. */
  readonly appended: number;
  /** How many records were not appended. */
  readonly refused: number;
  /** Why, as the code of an error: STREAM_BACKPRESSURE (too much is unread: send them again later) or STREAM_QUOTA_EXHAUSTED; empty if all were appended. */
  readonly refused_code: string;
  /** When they were appended. */
  readonly appended_at?: string;
};

/** Reads records. */
export type ReadWorkflowStreamRecordsRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** Only records with a greater sequence; 0 for all. */
  readonly cursor?: number;
  /** The most records to return: 50 when 0 or less, 1000 at most. Fewer are returned if they are large. */
  readonly limit?: number;
};

/** Records after a cursor. */
export type ReadWorkflowStreamRecordsResponse = {
  /** The records, in the order of their sequences. */
  readonly records: readonly WorkflowStreamRecord[];
  /** The cursor of the next read: the sequence of the last record, or the cursor of the request without records. */
  readonly next_cursor: number;
  /** The sequence of the earliest record that is kept. */
  readonly earliest_sequence: number;
  /** The sequence of the latest record. */
  readonly latest_sequence: number;
  /** Whether nothing can be appended any more. */
  readonly closed: boolean;
};

/** A record of a stream: a payload, or a reference to a large object. */
export type WorkflowStreamRecord = {
  /** The position in the stream, from 1. */
  readonly sequence: number;
  /** output: from the run. input: for the run, which gets an event. */
  readonly direction: string;
  /** The class of its content. */
  readonly content_class: string;
  /** The schema of the payload; empty without one. */
  readonly schema_ref: string;
  /** The payload, redacted as pinned. */
  readonly payload?: JsonValue;
  /** The large object, instead of a payload. */
  readonly object?: WorkflowStreamObject;
  /** The bytes that count towards the ceilings: those of the stored payload as JSON, or of the object. */
  readonly bytes: number;
  /** When it was appended. */
  readonly appended_at?: string;
};

/** A large object that a record refers to. */
export type WorkflowStreamObject = {
  /** The key of the object. */
  readonly object_key: string;
  /** The SHA-256 of its bytes, in hexadecimal. */
  readonly sha256: string;
  /** Its size. */
  readonly size_bytes: number;
  /** Its id, for the download: the intent that it was committed with. */
  readonly object_id: string;
  /** The media type of its bytes. */
  readonly content_type: string;
};

/** Follows a stream. */
export type SubscribeWorkflowStreamRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The sequence of the last received record; 0 for all. REST also accepts it in Last-Event-ID. */
  readonly cursor?: number;
};

/** Acknowledges records. */
export type AcknowledgeWorkflowStreamRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The consumer: letters, digits, dots, underscores, colons and hyphens. It exists from its first acknowledgement. */
  readonly consumer_id: string;
  /** The last sequence that is acknowledged; 0 registers a consumer that has read nothing. */
  readonly sequence?: number;
};

/** Removes a consumer. */
export type RemoveWorkflowStreamConsumerRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** The consumer. */
  readonly consumer_id: string;
};

/** Closes a stream. */
export type CloseWorkflowStreamRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
};

/** Sets or releases a legal hold. */
export type SetWorkflowStreamLegalHoldRequest = {
  /** The run. */
  readonly run_id: string;
  /** The id or the name of the stream. */
  readonly stream_id: string;
  /** Whether the stream is held. Required, so that nobody releases a hold by mistake. */
  readonly held: boolean;
  /** Why; required to set a hold. */
  readonly reason?: string;
};
