import { fail, invalid } from "../../../errors/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import { limits } from "./domain/limits.ts";
import type { StoredSeries } from "./domain/result.ts";
import type { TimeRange } from "./domain/time-range.ts";

interface Dependencies {
  readonly url: string;
  /** Empty for none. */
  readonly token: string;
  readonly log: Log;
}

/** Queries a store that speaks the HTTP API of Prometheus. */
export type PrometheusClient = ReturnType<typeof createPrometheusClient>;

/** The store's response. */
interface Answer {
  readonly status: "success" | "error";
  readonly errorType?: string;
  readonly data?: { readonly result: readonly StoredSeries[] };
}

/** Time for the store's answer to arrive after the store has stopped the query. */
const answerMs = 1000;

export function createPrometheusClient({ url, token, log }: Dependencies) {
  const endpoint = `${url.replace(/\/+$/, "")}/api/v1/query_range`;

  async function send(body: URLSearchParams, signal: AbortSignal): Promise<Answer> {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: token === "" ? {} : { authorization: `Bearer ${token}` },
      body,
      redirect: "error",
      signal,
    });
    const answer = await readAnswer(response);
    if (answer !== undefined) return answer;
    throw new Error(`The metrics store answered with status ${response.status} and without JSON.`);
  }

  return {
    async queryRange(query: string, { startMs, endMs, stepS }: TimeRange, signal: AbortSignal) {
      const timeout = AbortSignal.timeout(limits.timeoutMs + answerMs);
      const body = new URLSearchParams({
        query,
        start: String(startMs / 1000),
        end: String(endMs / 1000),
        step: String(stepS),
        timeout: `${limits.timeoutMs}ms`,
      });
      let answer: Answer;
      try {
        answer = await send(body, AbortSignal.any([signal, timeout]));
      } catch (cause) {
        signal.throwIfAborted();
        if (cause === tooLarge)
          throw invalid("query", "size", "has a result that is too large; aggregate it, or use a larger step_s");
        if (timeout.aborted) throw timedOut(cause);
        log.warn({ err: cause }, "the metrics store did not answer");
        throw fail("UNAVAILABLE", { public: "The metrics store does not answer. Try again later.", cause });
      }
      if (answer.status === "success" && answer.data !== undefined) return answer.data.result;
      throw failureOf(answer.errorType);
    },
  };
}

const tooLarge = new Error("The result is too large.");

/** Reads a body of bounded size as JSON; undefined if it is none. */
async function readAnswer(response: Response): Promise<Answer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limits.responseBytesMax) throw tooLarge;
    chunks.push(chunk);
  }
  try {
    const answer = JSON.parse(Buffer.concat(chunks).toString()) as Answer;
    return typeof answer?.status === "string" ? answer : undefined;
  } catch {
    return undefined;
  }
}

function timedOut(cause: unknown) {
  return fail("TIMEOUT", {
    public: `The query took longer than ${limits.timeoutMs / 1000} seconds. Use a shorter range or window.`,
    cause,
  });
}

/** The store's own message may quote the query with its tenant matcher, so it is not repeated. */
function failureOf(errorType: string | undefined) {
  const cause = new Error(`The metrics store refused the query: ${errorType}`);
  switch (errorType) {
    case "timeout":
    case "canceled":
      return timedOut(cause);
    case "bad_data":
    case "execution":
      return invalid(
        "query",
        "promql.evaluation",
        "cannot be evaluated: check regular expressions, and that both sides of an operator have one series per combination of labels",
      );
    default:
      return fail("UNAVAILABLE", { public: "The metrics store cannot execute queries now. Try again later.", cause });
  }
}

/** Whether a store of metrics answers a query within a second. */
export async function isPrometheusReachable(url: string, token: string): Promise<boolean> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}/api/v1/query?query=1`, {
      headers: token === "" ? {} : { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(answerMs),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
