import { readFileSync } from "node:fs";
import { text as readText } from "node:stream/consumers";
import { sendHttp } from "../harness/http-client.ts";
import type { Json } from "../harness/operations.ts";

/** The revisions of the protocol, the newest first. */
export const revisions = ["2026-07-28", "2025-11-25", "2025-06-18"] as const;

export type Revision = (typeof revisions)[number];

/** The version of this package. */
export const version: string = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;

/** A response of the endpoint. */
export interface McpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  readonly body: any;
}

/** What a request changes of a valid one. */
export interface McpRequest {
  readonly revision?: Revision;
  readonly headers?: Readonly<Record<string, string>>;
  /** Capabilities of the client, in the revision that sends them with every request. */
  readonly capabilities?: Json;
  readonly id?: string | number;
}

/** Sends a message as a client of a revision does. */
export function sendMessage(
  url: string,
  method: string,
  params: Json = {},
  { revision = "2026-07-28", headers = {}, capabilities = {}, id = 1 }: McpRequest = {},
): Promise<McpResponse> {
  const isNewest = revision === "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  return sendRaw(
    url,
    JSON.stringify({ jsonrpc: "2.0", id, method, params: isNewest ? { _meta: meta, ...params } : params }),
    {
      "mcp-protocol-version": revision,
      ...(isNewest && { "mcp-method": method }),
      ...(isNewest && typeof params.name === "string" && { "mcp-name": params.name }),
      ...headers,
    },
  );
}

/** Sends a body as it is. */
export async function sendRaw(
  url: string,
  body: string | undefined,
  headers: Readonly<Record<string, string>>,
  method = "POST",
): Promise<McpResponse> {
  const response = await sendHttp(url, {
    method,
    headers: {
      accept: "application/json, text/event-stream",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  const text = await readText(response.body);
  const isJson = text !== "" && response.headers.get("content-type")?.includes("json");
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}
