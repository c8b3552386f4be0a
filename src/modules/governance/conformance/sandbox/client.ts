import { setTimeout as delay } from "node:timers/promises";
import { limitCodes } from "../domain/case-result.ts";

/** Sends an HTTP request to this instance, as a caller would. */
export type SendRequest = (request: {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  readonly isEnough?: ((text: string) => boolean) | undefined;
}) => Promise<{
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}>;

/**
 * A caller of the sandbox: `admin` may do everything, `viewer` may read, `stranger` has no scope, `nobody` has no key.
 * `neighbour` is the admin of another scratch tenant.
 */
export type CallerName = "admin" | "viewer" | "stranger" | "nobody" | "neighbour";

/** The keys of the sandbox. A dry run has no admin and no neighbour. */
export type SandboxKeys = Readonly<Partial<Record<CallerName, string>>>;

// biome-ignore lint/suspicious/noExplicitAny: cases read responses of every shape.
export type Json = any;

/** A response of the instance. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: Json;
  /** The error code; empty for a success. */
  readonly code: string;
  header(name: string): string;
}

/** Options of a request besides its method and path. */
export interface RequestOptions {
  readonly as?: CallerName;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the reply of a limit is returned. Otherwise the request is sent again, or the case is blocked. */
  readonly isLimitExpected?: boolean;
  /** Whether the text so far is enough: the rest of a stream is not read. */
  readonly isEnough?: (text: string) => boolean;
}

/** Calls this instance as the callers of the sandbox. */
export interface SandboxClient {
  /** Sends a request and returns the response, whatever it is, unless a limit of the instance refuses it. */
  send(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** Sends a request that must succeed, as the admin unless said otherwise, and returns its data. */
  data(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Json>;
}

/** A request of a case was refused unexpectedly. The message is for the log of the node, not for reports. */
export class UnexpectedReply extends Error {
  readonly code: string;

  constructor(request: string, { status, code, body }: Reply) {
    super(`${request}: ${status} ${code}: ${body?.detail ?? body?.message ?? ""}`);
    this.code = code;
  }
}

interface Dependencies {
  readonly send: SendRequest;
  /** A Host that the instance accepts. */
  readonly host: string;
  readonly keys: SandboxKeys;
  readonly signal: AbortSignal;
}

/** The longest wait that a rate limit may ask for. */
const retryMsMax = 5000;

export function createSandboxClient({ send, host, keys, signal }: Dependencies): SandboxClient {
  async function request(method: string, path: string, options: RequestOptions): Promise<Reply> {
    const { as = "admin", body, headers = {}, isLimitExpected = false, isEnough } = options;
    const key = keys[as];
    if (key === undefined && as !== "nobody") throw new Error(`The sandbox has no ${as}.`);
    for (;;) {
      const response = await send({
        ...{ method, path, signal, isEnough },
        headers: {
          host,
          ...(key !== undefined && { "x-api-key": key }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const reply = toReply(response);
      if (isLimitExpected || !limitCodes.has(reply.code)) return reply;
      if (reply.code !== "RATE_LIMITED") throw new UnexpectedReply(`${method} ${path}`, reply);
      await delay(Math.min(1000 * (Number(reply.header("retry-after")) || 1), retryMsMax), undefined, { signal });
    }
  }

  return {
    send: (method, path, options = {}) => request(method, path, options),
    async data(method, path, body, options = {}) {
      const reply = await request(method, path, { ...options, ...(body !== undefined && { body }) });
      if (reply.status >= 300) throw new UnexpectedReply(`${method} ${path}`, reply);
      return reply.body?.data ?? reply.body;
    },
  };
}

function toReply({ status, headers, text }: Awaited<ReturnType<SendRequest>>): Reply {
  const header = (name: string) => [headers[name] ?? ""].flat()[0]!;
  const body = header("content-type").includes("json") ? parse(text) : undefined;
  return { status, text, body, header, code: status < 400 ? "" : codeOf(status, body) };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error code in a body of REST or of Connect. SCIM has only the status. */
function codeOf(status: number, body: Json): string {
  return body?.errorCode ?? body?.details?.[0]?.debug?.reason ?? (status === 429 ? "RATE_LIMITED" : "INTERNAL");
}
