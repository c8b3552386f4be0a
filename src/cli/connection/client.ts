import { setTimeout as delay } from "node:timers/promises";
import type { HttpRequest } from "../operations/http-request.ts";
import { type Problem, problemOf } from "../output/problem.ts";
import { type Connection, credentials } from "./connection.ts";
import { codeOf, connectionLost, unreachable } from "./unreachable.ts";

/** How patient a call is. */
export interface Patience {
  /** How often a call is repeated that may succeed later. */
  readonly retries: number;
  /** How long one try may take. */
  readonly timeoutS: number;
}

/** Told about every try, for people who look closely. */
export type Trace = (line: string) => void;

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Instead of a body, when a stream was asked for and granted. */
  readonly stream: ReadableStream<Uint8Array> | undefined;
  /** Set when the answer is an error. */
  readonly problem: Problem | undefined;
}

const waitSMax = 30;

/** Sends a request, and again where that may help. Any call may be repeated: one that changes something carries a key. */
export async function send(
  connection: Connection,
  request: HttpRequest,
  { retries, timeoutS }: Patience,
  trace: Trace,
): Promise<Answer> {
  for (let tried = 0; ; tried++) {
    const last = tried >= retries;
    trace(`> ${request.verb} ${connection.address}${request.target}`);
    const startedAt = performance.now();
    let answer: Answer;
    try {
      answer = await exchange(connection, request, timeoutS);
    } catch (error) {
      if (last || !connectionLost(error)) throw unreachable(connection.address, error, timeoutS);
      trace(`< the connection was lost (${codeOf(error)})`);
      await delay(backoffMs(tried));
      continue;
    }
    const { status, headers } = answer;
    trace(`< ${status} in ${Math.round(performance.now() - startedAt)} ms, request ${headers.get("x-request-id")}`);
    const waitMs = last ? undefined : retryAfterMs(answer, tried);
    if (waitMs === undefined) return answer;
    trace(`  again in ${Math.round(waitMs)} ms`);
    await delay(waitMs);
  }
}

async function exchange(connection: Connection, request: HttpRequest, timeoutS: number): Promise<Answer> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(new DOMException("no answer", "TimeoutError")), timeoutS * 1000);
  try {
    const response = await fetch(connection.address + request.target, {
      method: request.verb,
      headers: { ...request.headers, ...credentials(connection.key) },
      body: request.body,
      // Followed, a redirect would carry the key to wherever it points.
      redirect: "manual",
      signal: patience.signal,
    });
    const { status, statusText, headers } = response;
    if (response.ok && request.headers.accept === "text/event-stream") {
      return { status, headers, body: Buffer.alloc(0), stream: response.body ?? undefined, problem: undefined };
    }
    const body = Buffer.from(await response.arrayBuffer());
    const problem = response.ok ? undefined : problemOf(status, statusText, body);
    return { status, headers, body, stream: undefined, problem };
  } finally {
    clearTimeout(timer);
  }
}

/** How long to wait before the next try; undefined when there is no point in one. */
function retryAfterMs({ status, headers, problem }: Answer, tried: number): number | undefined {
  if (![408, 409, 429, 502, 503, 504].includes(status)) return undefined;
  if (!(problem?.retryable ?? status !== 409)) return undefined;
  const header = headers.get("retry-after");
  if (header === null) return backoffMs(tried);
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) || seconds > waitSMax ? undefined : Math.max(0, seconds) * 1000;
}

/** The wait before a repeat: doubles each time, and differs between callers that failed together. */
export function backoffMs(tried: number): number {
  return Math.min(250 * 2 ** tried, 5000) * (0.5 + Math.random() / 2);
}
