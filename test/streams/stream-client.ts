import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import {
  WorkflowStreamPinsSchema,
  type WorkflowStreamRecord,
  WorkflowStreamService,
} from "../../gen/service/api/workflow_stream_pb.ts";
import { restClient } from "../harness/rest.ts";
import type { ResponseData } from "../routing/tenant-fixture.ts";

/** A record, in the same form for every protocol. */
export interface ReadRecord {
  readonly sequence: number;
  readonly payload: unknown;
}

/** An error of a call, in the same form for every protocol. */
export class CallError extends Error {
  readonly code: string;
  /** The HTTP status, or the gRPC code. */
  readonly status: number;
  /** The additional members; numbers are texts over gRPC. */
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retryAfter: string | null;

  constructor(code: string, status: number, extra: Readonly<Record<string, unknown>>, retryAfter: string | null) {
    super(`${code} ${JSON.stringify(extra)}`);
    this.code = code;
    this.status = status;
    this.extra = extra;
    this.retryAfter = retryAfter;
  }
}

/** What appends take besides their payload. */
export interface AppendOptions {
  readonly direction?: string;
  readonly content_class?: string;
  readonly wait_s?: number;
  readonly key?: string;
}

/** The operations of streams over one protocol. */
export interface StreamClient {
  readonly protocol: string;
  create(runId: string, name: string, pins?: object): Promise<ResponseData>;
  get(runId: string, streamId: string): Promise<ResponseData>;
  append(runId: string, streamId: string, payload: unknown, options?: AppendOptions): Promise<number>;
  /** Appends a batch; returns the first sequence and how many records were appended and refused. */
  appendBatch(runId: string, streamId: string, payloads: readonly unknown[], key: string): Promise<number[]>;
  read(runId: string, streamId: string, cursor: number, limit?: number): Promise<ReadRecord[]>;
  subscribe(runId: string, streamId: string, cursor: number, signal: AbortSignal): AsyncIterable<ReadRecord>;
  ack(runId: string, streamId: string, consumerId: string, sequence: number): Promise<number>;
  close(runId: string, streamId: string): Promise<string>;
  hold(runId: string, streamId: string, held: boolean | undefined, reason: string): Promise<boolean>;
}

/** A client over REST and server-sent events. */
export function restStreams(baseUrl: string, key: string): StreamClient {
  const rest = restClient(baseUrl, key);
  const at = (runId: string, streamId = "") =>
    `/api/workflow-streams/runs/${runId}/streams${streamId && `/${streamId}`}`;
  async function call(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<ResponseData> {
    const answer = await rest.call(method, path, body, headers);
    if (answer.status === 200) return answer.body.data;
    throw restError(answer.status, answer.body, answer.headers.get("retry-after"));
  }
  return {
    protocol: "REST",
    create: (runId, name, pins = {}) => call("POST", at(runId), { name, pins }),
    get: (runId, streamId) => call("GET", at(runId, streamId)),
    async append(runId, streamId, payload, { key: idempotencyKey, ...options } = {}) {
      const headers: Record<string, string> = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
      return (await call("POST", `${at(runId, streamId)}/records`, { payload, ...options }, headers)).sequence;
    },
    async appendBatch(runId, streamId, payloads, idempotencyKey) {
      const records = payloads.map((payload) => ({ payload }));
      const headers = { "idempotency-key": idempotencyKey };
      const appended = await call("POST", `${at(runId, streamId)}/records:batch`, { records }, headers);
      return [appended.first_sequence, appended.appended, appended.refused];
    },
    async read(runId, streamId, cursor, limit = 0) {
      return (await call("GET", `${at(runId, streamId)}/records?cursor=${cursor}&limit=${limit}`)).records;
    },
    async *subscribe(runId, streamId, cursor, signal) {
      const response = await fetch(`${baseUrl}${at(runId, streamId)}/subscribe`, {
        headers: { "x-api-key": key, "last-event-id": String(cursor) },
        signal,
      });
      if (response.status !== 200) throw restError(response.status, await response.json(), null);
      let unread = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        unread += chunk;
        for (let end = unread.indexOf("\n\n"); end >= 0; end = unread.indexOf("\n\n")) {
          const block = unread.slice(0, end);
          unread = unread.slice(end + 2);
          if (block.startsWith(":")) continue;
          const data = JSON.parse(/^data: (.*)$/m.exec(block)![1]!);
          if (block.startsWith("event: error")) throw restError(data.status, data, null);
          if (block.startsWith("event: end")) return;
          if (/^id: (.*)$/m.exec(block)![1] !== String(data.sequence)) throw new Error(`wrong id: ${block}`);
          yield data;
        }
      }
    },
    async ack(runId, streamId, consumerId, sequence) {
      return (await call("POST", `${at(runId, streamId)}/consumers/${consumerId}/ack`, { sequence })).sequence;
    },
    close: async (runId, streamId) => (await call("POST", `${at(runId, streamId)}/close`, {})).status,
    hold: async (runId, streamId, held, reason) =>
      (await call("PUT", `${at(runId, streamId)}/legal-hold`, { held, reason })).hold !== undefined,
  };
}

function restError(status: number, body: ResponseData, retryAfter: string | null): CallError {
  const { errorCode, ...extra } = body;
  return new CallError(errorCode, status, extra, retryAfter);
}

/** A client over gRPC or Connect. */
export function rpcStreams(protocol: "gRPC" | "Connect", baseUrl: string, key: string): StreamClient {
  const transport =
    protocol === "gRPC" ? createGrpcTransport({ baseUrl }) : createConnectTransport({ baseUrl, httpVersion: "2" });
  const client = createClient(WorkflowStreamService, transport);
  const headers = { "x-api-key": key };
  async function call<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw rpcError(error);
    }
  }
  const recordOf = ({ sequence, payload }: WorkflowStreamRecord): ReadRecord => ({
    sequence: Number(sequence),
    payload: payload === undefined ? undefined : toJson(ValueSchema, payload),
  });
  return {
    protocol,
    async create(runId, name, pins = {}) {
      const request = { runId, name, pins: fromJson(WorkflowStreamPinsSchema, pins as JsonObject) };
      return (await call(client.createWorkflowStream(request, { headers }))).stream;
    },
    get: async (runId, streamId) => (await call(client.getWorkflowStream({ runId, streamId }, { headers }))).stream,
    async append(runId, streamId, payload, { key: idempotencyKey, direction = "", content_class = "", wait_s } = {}) {
      const request = {
        ...{ runId, streamId, direction, contentClass: content_class },
        payload: fromJson(ValueSchema, payload as JsonValue),
        ...(wait_s !== undefined && { waitS: wait_s }),
      };
      const keyed = idempotencyKey === undefined ? headers : { ...headers, "idempotency-key": idempotencyKey };
      return Number((await call(client.appendWorkflowStreamRecord(request, { headers: keyed }))).sequence);
    },
    async appendBatch(runId, streamId, payloads, idempotencyKey) {
      const records = payloads.map((payload) => ({ payload: fromJson(ValueSchema, payload as JsonValue) }));
      const keyed = { ...headers, "idempotency-key": idempotencyKey };
      const appended = await call(
        client.appendWorkflowStreamRecordBatch({ runId, streamId, records }, { headers: keyed }),
      );
      return [Number(appended.firstSequence), appended.appended, appended.refused];
    },
    async read(runId, streamId, cursor, limit = 0) {
      const request = { runId, streamId, cursor: BigInt(cursor), limit };
      return (await call(client.readWorkflowStreamRecords(request, { headers }))).records.map(recordOf);
    },
    async *subscribe(runId, streamId, cursor, signal) {
      try {
        const request = { runId, streamId, cursor: BigInt(cursor) };
        for await (const { record } of client.subscribeWorkflowStream(request, { headers, signal })) {
          yield recordOf(record!);
        }
      } catch (error) {
        throw rpcError(error);
      }
    },
    async ack(runId, streamId, consumerId, sequence) {
      const request = { runId, streamId, consumerId, sequence: BigInt(sequence) };
      return Number((await call(client.acknowledgeWorkflowStream(request, { headers }))).consumer!.sequence);
    },
    close: async (runId, streamId) =>
      (await call(client.closeWorkflowStream({ runId, streamId }, { headers }))).stream!.status,
    async hold(runId, streamId, held, reason) {
      const request = { runId, streamId, ...(held !== undefined && { held }), reason };
      return (await call(client.setWorkflowStreamLegalHold(request, { headers }))).stream!.hold !== undefined;
    },
  };
}

function rpcError(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const [info] = error.findDetails(ErrorInfoSchema);
  if (info === undefined) return error;
  return new CallError(info.reason, error.code, info.metadata, error.metadata.get("retry-after"));
}

/** Takes records from a subscription, then leaves it. */
export async function take(records: AsyncIterable<ReadRecord>, count: number): Promise<ReadRecord[]> {
  const taken: ReadRecord[] = [];
  if (count === 0) return taken;
  for await (const record of records) {
    taken.push(record);
    if (taken.length === count) break;
  }
  return taken;
}
