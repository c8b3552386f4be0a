import type { TenantId } from "../../../../platform/access/index.ts";
import type { Pins } from "./pins.ts";

/** The largest payload of a record, as JSON. */
export const inlineBytesMax = 64 * 1024;

/** Identifies a stream. */
export interface StreamKey {
  readonly tenantId: TenantId;
  readonly runId: string;
  readonly streamId: string;
}

/** Settings fixed when a stream is created. */
export interface StreamDefinition extends StreamKey {
  readonly name: string;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly pins: Pins;
  readonly digest: string;
  /** The key of hashes that replace redacted values. */
  readonly redactionKey: Buffer;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** A legal hold: nothing of the stream is removed. */
export interface Hold {
  readonly by: string;
  readonly reason: string;
  readonly since: string;
}

/** The current extent of a stream. */
export interface StreamHead {
  /** The sequence of the earliest record that is kept; lastSequence + 1 if none is. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** The bytes of all records before firstSequence, and up to lastSequence. */
  readonly firstCumBytes: number;
  readonly lastCumBytes: number;
  readonly hold: Hold | null;
  readonly closedAt: Date | null;
}

/** The position up to which every consumer has acknowledged; the start of the stream if there is no consumer. */
export interface AckedPosition {
  readonly ackedSequence: number;
  readonly ackedCumBytes: number;
}

/** A reference to a large object. */
export interface ObjectReference {
  /** The intent that it was committed with. */
  readonly object_id: string;
  readonly object_key: string;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly content_type: string;
}

export type Direction = "output" | "input";

/** The content of a record: an inline payload or a reference to a large object. */
export type RecordContent =
  | { readonly payloadJson: string; readonly object?: undefined }
  | { readonly object: ObjectReference; readonly payloadJson?: undefined };

/** A record that is about to be appended. */
export type NewRecord = RecordContent & {
  readonly direction: Direction;
  readonly contentClass: string;
  readonly schemaRef: string;
  /** The bytes that count towards the ceilings. */
  readonly bytes: number;
};

/** A stored record. */
export interface StreamRecord {
  readonly sequence: number;
  readonly direction: Direction;
  readonly contentClass: string;
  readonly schemaRef: string;
  /** Null for a reference to an object. */
  readonly payloadJson: string | null;
  /** Null for an inline payload. */
  readonly object: ObjectReference | null;
  readonly bytes: number;
  readonly appendedAt: Date;
}

/** A name for maps. */
export function nameOfKey({ tenantId, runId, streamId }: StreamKey): string {
  return `${tenantId}:${runId}:${streamId}`;
}

/** The signal that records were appended to a stream, or that it was closed. */
export function recordTopic(key: StreamKey): string {
  return `workflow.stream.records:${nameOfKey(key)}`;
}

/** The signal that a consumer of a stream has acknowledged records. */
export function ackTopic(key: StreamKey): string {
  return `workflow.stream.acks:${nameOfKey(key)}`;
}
