import { createHash } from "node:crypto";
import { request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { freshWord } from "../harness/operations.ts";
import { restClient } from "../harness/rest.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
type Json = any;

/** A REST response whose body may be bytes. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly json: Json;
}

/** The digest of bytes, as intents state it. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Sends a request with a raw body, as one part or as several without a length. */
function sendRaw(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: Uint8Array | Iterable<Uint8Array>,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      buffer(response).then((bytes) => {
        const isJson = /json/.test(response.headers["content-type"] ?? "");
        const json = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
        resolve({ status: response.statusCode!, headers: response.headers, bytes, json });
      }, reject);
    });
    request.on("error", reject);
    if (body === undefined || body instanceof Uint8Array) {
      request.end(body);
      return;
    }
    for (const part of body) request.write(part);
    request.end();
  });
}

/** A client of one node for runs, streams and objects. */
export type ObjectClient = ReturnType<typeof objectClient>;

/** Creates a client. */
export function objectClient(baseUrl: string, key: string) {
  const rest = restClient(baseUrl, key);

  async function call(method: string, path: string, body?: unknown): Promise<Json> {
    const response = await rest.call(method, path, body);
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response.body.data;
  }

  async function createRun(): Promise<string> {
    const key = freshWord();
    const steps = [{ id: "wait", wait_event: { event: "go", timeout: "1h" } }];
    const { id } = await call("POST", "/api/workflow-definitions", {
      document: { dsl: "1", key, timeout: "1d", steps },
    });
    await call("POST", `/api/workflow-definitions/${id}/publish`, {});
    return (await call("POST", "/api/workflow-runs", { definition: key })).run.id;
  }

  return {
    rest,
    call,
    createRun,

    /** Creates a run with a stream, and returns the path of the stream. */
    async createStream(pins: Json = {}, runId?: string): Promise<string> {
      const run = runId ?? (await createRun());
      const path = `/api/workflow-streams/runs/${run}/streams`;
      const stream = await call("POST", path, { name: "out", pins });
      return `${path}/${stream.id}`;
    },

    prepare: (stream: string, bytes: Uint8Array, more: Json = {}): Promise<Json> =>
      call("POST", `${stream}/objects`, { sha256: sha256Of(bytes), size_bytes: String(bytes.length), ...more }),

    raw: (
      method: string,
      path: string,
      body?: Uint8Array | Iterable<Uint8Array>,
      headers: Record<string, string> = {},
    ): Promise<RawResponse> => sendRaw(baseUrl + path, method, { "x-api-key": key, ...headers }, body),

    /** Prepares, uploads and commits an object; returns its path and sequence. */
    async deliver(stream: string, bytes: Uint8Array, more: Json = {}): Promise<{ path: string; sequence: number }> {
      const intent = await this.prepare(stream, bytes, more);
      const path = `${stream}/objects/${intent.id}`;
      const uploaded = await this.raw("PUT", path, bytes);
      if (uploaded.status !== 200) throw new Error(`upload: ${uploaded.status} ${uploaded.bytes}`);
      const committed = await call("POST", `${path}:commit`, {});
      return { path, sequence: Number(committed.sequence) };
    },
  };
}
