import { type Backoff, retryDelayMs, sleep } from "./backoff.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import { type ApiError, ConnectionError, DeadlineError, readError, SwitchyardError } from "./errors.ts";
import { toHttpRequest } from "./http-request.ts";
import type { CallOptions, Operation } from "./operation.ts";

/** How a client reaches the service. */
export interface TransportOptions {
  /** The address of the service; the origin of the page by default. */
  readonly baseUrl?: string;
  /** An API key. Never put one in a web page: pages use the session of the browser, without a key. */
  readonly apiKey?: string;
  /** A bearer token of an identity provider, or a function that returns the current one. */
  readonly token?: string | (() => string | Promise<string>);
  /** The time for a call with all its retries, in milliseconds; default 30,000. */
  readonly timeoutMs?: number;
  /** How often a call is repeated after a failure that allows it; default 2. */
  readonly maxRetries?: number;
  /** The waits between retries; default 200 ms, growing to 5 s. */
  readonly backoff?: Backoff;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Sends calls: with credentials, within a deadline, and again when that is safe. */
export interface Transport {
  /** Sends a call and reads its JSON response, whose shape the operation determines. */
  call<Result>(operation: Operation, request: object, options?: CallOptions): Promise<Result>;
  /** Sends a call and returns the response as soon as its headers arrive. Only the signal ends its body. */
  open(operation: Operation, request: object, options?: CallOptions): Promise<Response>;
  readonly backoff: Backoff;
  /** How often a call that does not set it is repeated. */
  readonly maxRetries: number;
  /** The time for a call that sets none, in milliseconds. */
  readonly timeoutMs: number;
}

const defaultBackoff: Backoff = { initialMs: 200, maxMs: 5_000 };

/** Creates a transport over `fetch`. */
export function createTransport(options: TransportOptions = {}): Transport {
  const { timeoutMs = 30_000, maxRetries = 2, backoff = defaultBackoff } = options;
  const baseUrl = (options.baseUrl ?? "").replace(/\/+$/, "");
  if (baseUrl !== "" && !/^(https?:\/)?\//i.test(baseUrl)) {
    throw new TypeError(
      `baseUrl must be an http or https URL (for example: https://switchyard.example), not ${baseUrl}`,
    );
  }
  const send = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args));

  /** Runs a call with its retries. `read` is part of an attempt, because a connection can fail within a body. */
  async function attempt<Result>(
    operation: Operation,
    request: object,
    call: CallOptions,
    read: (response: Response, deadline: Deadline) => Promise<Result>,
  ): Promise<Result> {
    if (baseUrl === "" && options.fetch === undefined && !("location" in globalThis)) {
      throw new TypeError(
        "baseUrl is missing: outside of a web page it is required (for example: https://switchyard.example)",
      );
    }
    const http = toHttpRequest(operation, request);
    const key = operation.keyed && call.idempotencyKey !== null ? (call.idempotencyKey ?? randomKey()) : undefined;
    const limitMs = call.timeoutMs ?? timeoutMs;
    const deadline = createDeadline(limitMs, call.signal);
    try {
      for (let number = 1; ; number++) {
        try {
          const headers = await headersOf(http.method, http.contentType, key, call.headers);
          const init: RequestInit = { method: http.method, headers, body: http.body, signal: deadline.signal };
          const sent = send(baseUrl + http.target, { ...init, credentials: "same-origin" });
          const response = await sent.catch(asConnectionError);
          call.onResponse?.({
            status: response.status,
            headers: response.headers,
            requestId: response.headers.get("x-request-id") ?? "",
            attempt: number,
          });
          if (!response.ok) throw await readError(response);
          return await read(response, deadline);
        } catch (error) {
          if (deadline.isOver()) throw new DeadlineError(limitMs, error);
          call.signal?.throwIfAborted();
          if (!(error instanceof SwitchyardError && error.retryable)) throw error;
          if (number > (call.maxRetries ?? maxRetries)) throw error;
          const waitMs = retryDelayMs(backoff, number, (error as ApiError).retryAfterMs, Math.random());
          if (waitMs >= deadline.remainingMs()) throw error;
          await sleep(waitMs, call.signal);
        }
      }
    } finally {
      deadline.release();
    }
  }

  async function headersOf(
    method: string,
    contentType: string | undefined,
    key: string | undefined,
    own: CallOptions["headers"],
  ): Promise<Record<string, string>> {
    const headers: Record<string, string> = { accept: "application/json", ...options.headers, ...own };
    if (contentType !== undefined) headers["content-type"] ??= contentType;
    if (key !== undefined) headers["idempotency-key"] = key;
    if (options.apiKey !== undefined) headers["x-api-key"] = options.apiKey;
    else if (options.token !== undefined) headers.authorization = `Bearer ${await tokenOf(options.token)}`;
    // Proves to the service that a script of its own origin sends the request, and not a form of another site.
    else if (method !== "GET") headers["x-switchyard-session"] = "1";
    return headers;
  }

  return {
    backoff,
    maxRetries,
    timeoutMs,
    call: <Result>(operation: Operation, request: object, call: CallOptions = {}) =>
      attempt(operation, request, call, readJson<Result>),
    open: (operation, request, call = {}) =>
      attempt(operation, request, call, async (response, deadline) => {
        deadline.keepSignal();
        return response;
      }),
  };
}

async function readJson<Result>(response: Response): Promise<Result> {
  const text = await response.text().catch(asConnectionError);
  try {
    return JSON.parse(text) as Result;
  } catch (cause) {
    throw new ConnectionError("the response is not JSON", { cause, status: response.status, retryable: false });
  }
}

function tokenOf(token: NonNullable<TransportOptions["token"]>): string | Promise<string> {
  return typeof token === "function" ? token() : token;
}

/** `fetch` reports every failure of a connection as a TypeError. */
function asConnectionError(cause: unknown): never {
  if (!(cause instanceof TypeError)) throw cause;
  throw new ConnectionError(`the connection failed: ${reasonOf(cause)}`, { cause });
}

/** Node says only "fetch failed" and keeps the reason, such as ECONNREFUSED, in the cause. */
function reasonOf({ message, cause }: TypeError): string {
  const { message: reason, code } = (cause ?? {}) as { readonly message?: string; readonly code?: string };
  return reason || code || message;
}

/** A random idempotency key. `crypto.randomUUID` is missing in pages without https. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
