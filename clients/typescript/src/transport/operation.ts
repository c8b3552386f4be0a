/** An operation of the API, as far as a call needs it. */
export interface Operation {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path with its variables: `/api/pools/{pool_id}`. */
  readonly path: string;
  /** The field that is the body, or "*" for all fields that are not in the path. Without it, they are in the query. */
  readonly body?: string;
  /** What a call returns: one record (default), a list with cursors or page numbers, a stream, or a raw response. */
  readonly result?: "cursor" | "numbered" | "stream" | "raw";
  /** Whether a call has an idempotency key. Every other call changes nothing, so it can be repeated as well. */
  readonly keyed?: true;
}

/** Settings of one call. */
export interface CallOptions {
  /** Ends the call, its retries and its waits. */
  readonly signal?: AbortSignal;
  /** The time for the call with all its retries, in milliseconds. */
  readonly timeoutMs?: number;
  /** How often the call is repeated after a failure that allows it. */
  readonly maxRetries?: number;
  /**
   * The idempotency key; a random one by default. All retries of the call have the same. `null` sends none, which suits a
   * call that is harmless to repeat, such as a heartbeat.
   */
  readonly idempotencyKey?: string | null;
  /** Additional request headers, such as `if-match`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Is called with every response, also with those that are retried. */
  readonly onResponse?: (response: ResponseInfo) => void;
}

/** What is known about a response besides its data. */
export interface ResponseInfo {
  readonly status: number;
  readonly headers: Headers;
  /** The id of the request in the logs of the service; empty if the response has none. */
  readonly requestId: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
}
