import { isUtf8 } from "node:buffer";
import { invalid } from "../../../../errors/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import type { Action, HttpAnswer, HttpRequest, PageState, Provider } from "../../manifests/index.ts";

/** A request of a caller, which no action describes. */
export interface RawRequest {
  readonly method: HttpRequest["method"];
  /** The path below the base URL, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The name of the action of raw requests. No manifest can have it. */
const rawActionName = "*";

/** The key in the records of raw requests to a provider. */
export const rawActionKey = (providerKey: string) => `${providerKey}.${rawActionName}`;

const timeoutMsMax = 120_000;
const answerBytesMax = 4 * 1024 * 1024;

/** Headers that control framing, the recipient or the encoding, and those of credentials. */
const droppedHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|accept-encoding|content-encoding|cookie|set-cookie|authorization|www-authenticate|proxy-.*)$/i;

const kept = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).filter(([name]) => !droppedHeaders.test(name));

/** The action that sends a raw request, and where it goes. */
export function rawActionOf(
  provider: Provider,
  raw: RawRequest,
): { readonly action: Action; readonly start: PageState } {
  const { method, path, body } = raw;
  const isRead = method === "GET" || method === "HEAD";
  const headers = new Map(kept(raw.headers));
  const hasType = [...headers.keys()].some((name) => name.toLowerCase() === "content-type");
  if (typeof body === "string" && body !== "" && !hasType) headers.set("content-type", "application/json");
  const members = [...headers].map(([name, value]) => [name, { kind: "constant", value }] as const);
  const encoded = Buffer.from(body as string).toString("base64");
  const action: Action = {
    ...{ key: rawActionKey(provider.key), name: rawActionName, title: "Send a request", description: "" },
    ...{
      scopes: [],
      permissions: [],
      related: [],
      runtime: { status: "executable", reason: "", replacedBy: undefined },
    },
    mutation: {
      ...{ effect: isRead ? "read" : "update", idempotency: isRead ? "natural" : "none" },
      ...{ destructive: !isRead, keyIn: undefined },
    },
    ...{ retry: { maxAttempts: 1, on: [] }, timeoutMs: timeoutMsMax, responseBytesMax: answerBytesMax },
    ...{
      inputSchema: { type: "object" },
      outputSchema: undefined,
      output: undefined,
      paginate: undefined,
      choices: [],
    },
    ...{ response: "any", errors: provider.errors },
    request: {
      method,
      // The target is resolved against the base URL with this slash.
      path: { source: path.split("?", 1)[0]!, parts: ["/"] },
      ...{ url: undefined, query: undefined, headers: { kind: "object", members } },
      body: encoded === "" ? undefined : { kind: "base64", value: { kind: "constant", value: encoded } },
    },
  };
  return { action, start: { pages: 0, items: [], next: { kind: "url", url: targetOf(path) } } };
}

/** A reference to a path that never leaves the base URL. */
function targetOf(path: string): string {
  const relative = path.replace(/^\//, "");
  // Some servers decode slashes, and ignore what follows a semicolon, before they resolve dot segments.
  const segments = relative
    .split("?", 1)[0]!
    .replaceAll(/%2e/gi, ".")
    .split(/\/|%2f|%5c/i);
  if (/^\/|[\\#]/.test(relative) || segments.some((segment) => /^\.\.?(;|%3b|$)/i.test(segment))) {
    throw invalid(
      "path",
      "path",
      "must be below the base URL, without dot segments, backslashes, # and // at its start",
    );
  }
  return `./${relative}`;
}

/** The output of the execution of a raw request. */
export interface RawOutput {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly base64?: string;
}

/** An answer as the output of an execution. */
export function rawOutputOf({ status, headers, body }: HttpAnswer): JsonObject {
  const isText = isUtf8(body) && !body.includes(0);
  const content: JsonObject = isText ? { body: body.toString() } : { base64: body.toString("base64") };
  return { status, headers: Object.fromEntries(kept(headers)), ...content };
}
