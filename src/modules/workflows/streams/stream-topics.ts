import type { StreamKey } from "./domain/stream.ts";

/** The signal that records were appended to a stream, or that it was closed. */
export function recordTopic({ tenantId, runId, streamId }: StreamKey): string {
  return `workflow.stream.records:${tenantId}:${runId}:${streamId}`;
}

/** The signal that a consumer of a stream has acknowledged records. */
export function ackTopic({ tenantId, runId, streamId }: StreamKey): string {
  return `workflow.stream.acks:${tenantId}:${runId}:${streamId}`;
}
