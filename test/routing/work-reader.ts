import { type CallOptions, type Client, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { type LeasedItem, WorkService } from "../../gen/service/api/work_pb.ts";
import { openEvents } from "../wire/event-source.ts";
import type { ResponseData } from "./tenant-fixture.ts";

/** The protocols of a work stream. */
export const streamProtocols = ["SSE", "Connect", "gRPC", "gRPC-Web"] as const;

/** The request of a work stream. */
export interface WorkFields {
  readonly recipient_id?: string;
  readonly max_in_flight?: number;
  readonly lease_s?: number;
}

/** A worker's open stream. */
export interface WorkReader {
  /** The items of the next message; rejects when the stream ends. */
  next(): Promise<ResponseData[]>;
  /** Reads messages until this many items have arrived. */
  take(count: number): Promise<ResponseData[]>;
  close(): void;
}

interface Worker {
  readonly baseUrl: string;
  readonly key: string;
}

/** Opens a work stream in a protocol. */
export async function openWork(
  { baseUrl, key }: Worker,
  poolId: string,
  fields: WorkFields = {},
  protocol: (typeof streamProtocols)[number] = "SSE",
): Promise<WorkReader> {
  const headers = { "x-api-key": key };
  if (protocol === "SSE") {
    const source = await openEvents(`${baseUrl}/api/queues/${poolId}/work`, headers, fields);
    const next = async () => {
      const [event] = await source.take(1);
      if (event!.event === "error") throw Object.assign(new Error(event!.data.detail), { problem: event!.data });
      return event!.data.items;
    };
    return readerOf(next, source.close);
  }
  const leave = new AbortController();
  const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(60_000)]);
  const messages = rpcMessages(createClient(WorkService, transportOf(protocol, baseUrl)), poolId, fields, {
    headers,
    signal,
  })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await messages.next();
    if (done === true) throw new Error("the stream ended");
    return value.items.map(fromItem);
  };
  return readerOf(next, () => leave.abort());
}

function rpcMessages(client: Client<typeof WorkService>, poolId: string, fields: WorkFields, options: CallOptions) {
  const { recipient_id = "", max_in_flight = 0, lease_s = 0 } = fields;
  return client.work({ poolId, recipientId: recipient_id, maxInFlight: max_in_flight, leaseS: lease_s }, options);
}

function transportOf(protocol: Exclude<(typeof streamProtocols)[number], "SSE">, baseUrl: string) {
  if (protocol === "gRPC") return createGrpcTransport({ baseUrl });
  if (protocol === "gRPC-Web") return createGrpcWebTransport({ baseUrl, httpVersion: "1.1" });
  return createConnectTransport({ baseUrl, httpVersion: "2" });
}

function readerOf(next: WorkReader["next"], close: () => void): WorkReader {
  return {
    next,
    close,
    async take(count) {
      const items: ResponseData[] = [];
      while (items.length < count) items.push(...(await next()));
      return items;
    },
  };
}

function fromItem({ queueItemId, poolId, leaseToken, recipientId, payload, attempt }: LeasedItem): ResponseData {
  return {
    queue_item_id: queueItemId,
    pool_id: poolId,
    lease_token: leaseToken,
    recipient_id: recipientId,
    payload,
    attempt,
  };
}
