import type { IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { type Backoff, backoffMs } from "../../platform/backoff/backoff.ts";
import { retryAfterMs } from "../../platform/backoff/retry-after.ts";
import type { HttpRequest } from "../operations/http-request.ts";
import { type Problem, parseProblem } from "../output/problem.ts";
import { type Connection, credentials } from "./connection.ts";
import { codeOf, isConnectionLost, toCliError } from "./connection-error.ts";
import { openExchange } from "./http-exchange.ts";

/** Retry and timeout settings of a call. */
export interface RetryPolicy {
  /** Maximum number of retries. */
  readonly retries: number;
  /** The timeout of one attempt. */
  readonly timeoutS: number;
}

/** Writes one line about each attempt, for --verbose. */
export type Trace = (line: string) => void;

/** The response to a call. */
export interface CliResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The event stream, instead of a body. */
  readonly stream: AsyncIterable<Uint8Array> | undefined;
  /** Set if the response is an error. */
  readonly problem: Problem | undefined;
}

const waitMsMax = 30_000;

/** The delays between attempts of a call. */
export const callBackoff: Backoff = { firstMs: 250, maxMs: 5000, spread: [0.5, 1] };

/** Sends a request with retries. Retries are safe: mutating calls have an idempotency key. */
export async function send(
  connection: Connection,
  request: HttpRequest,
  { retries, timeoutS }: RetryPolicy,
  trace: Trace,
): Promise<CliResponse> {
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= retries;
    trace(`> ${request.verb} ${connection.address}${request.target}`);
    const startedAt = performance.now();
    let response: CliResponse;
    try {
      response = await exchange(connection, request, timeoutS);
    } catch (error) {
      if (isLast || !isConnectionLost(error)) throw toCliError(connection.address, error, timeoutS);
      trace(`< the connection was lost (${codeOf(error)})`);
      await delay(backoffMs(callBackoff, attempt + 1, Math.random()));
      continue;
    }
    const { status, headers } = response;
    trace(`< ${status} in ${Math.round(performance.now() - startedAt)} ms, request ${headers["x-request-id"]}`);
    const waitMs = isLast ? undefined : retryWaitMs(response, attempt);
    if (waitMs === undefined) return response;
    trace(`  retry in ${Math.round(waitMs)} ms`);
    await delay(waitMs);
  }
}

async function exchange(connection: Connection, request: HttpRequest, timeoutS: number): Promise<CliResponse> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new DOMException("no response", "TimeoutError")), timeoutS * 1000);
  try {
    const headers = { ...request.headers, ...credentials(connection.key) };
    // Redirects are not followed, because they would send the key to another host.
    const response = await openExchange(connection.address, { ...request, headers }, timeout.signal);
    const head = { status: response.statusCode!, headers: response.headers };
    const isOk = head.status >= 200 && head.status < 300;
    if (isOk && request.headers.accept === "text/event-stream") {
      return { ...head, body: Buffer.alloc(0), stream: response, problem: undefined };
    }
    const body = await buffer(response);
    const problem = isOk ? undefined : parseProblem(head.status, response.statusMessage!, body);
    return { ...head, body, stream: undefined, problem };
  } finally {
    clearTimeout(timer);
  }
}

/** The wait before the next attempt; undefined if the call should not be retried. */
function retryWaitMs({ status, headers, problem }: CliResponse, attempt: number): number | undefined {
  if (![408, 409, 429, 502, 503, 504].includes(status)) return undefined;
  if (!(problem?.retryable ?? status !== 409)) return undefined;
  const header = headers["retry-after"];
  if (header === undefined) return backoffMs(callBackoff, attempt + 1, Math.random());
  const waitMs = retryAfterMs(header, Date.now());
  return waitMs === undefined || waitMs > waitMsMax ? undefined : waitMs;
}
