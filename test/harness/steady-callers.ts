import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "./until.ts";

/** A GOAWAY that names it refuses no request. */
const streamIdMax = 2 ** 31 - 1;

interface CallersOptions {
  readonly baseUrl: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly key: string;
  readonly body?: unknown;
  /** The number of callers with keep-alive connections, of callers with HTTP/2, and of those that connect for each call. */
  readonly callers: readonly [keepAlive: number, http2: number, connecting: number];
  /** How long each waits between two calls; not at all by default. */
  readonly pauseMs?: number;
}

/** Callers that call again and again over HTTP/1.1 and HTTP/2, until one call fails. */
export function startCallers({ baseUrl, method, path, key, body, callers, pauseMs = 0 }: CallersOptions) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = { "x-api-key": key, ...(text !== undefined && { "content-type": "application/json" }) };
  const failures: unknown[] = [];
  const sessions = new Set<http2.ClientHttp2Session>();
  const agent = new http.Agent({ keepAlive: true });
  const calls = { http1: 0, http2: 0 };
  const ending = new AbortController();
  const { signal } = ending;
  let isDone = false;

  const requireOk = (status: unknown, answer: string) => {
    if (status !== 200) throw new Error(`${status}: ${answer}`);
  };
  const overHttp1 = async (own: http.Agent | false) => {
    const request = http.request(baseUrl + path, { agent: own, method, headers });
    request.end(text);
    const [response] = (await once(request, "response", { signal })) as [http.IncomingMessage];
    requireOk(response.statusCode, (await response.setEncoding("utf8").toArray()).join(""));
    calls.http1++;
  };
  const http2Caller = () => {
    let session: http2.ClientHttp2Session | undefined;
    let lastServed: number | undefined;
    const call = async (): Promise<void> => {
      // As HTTP/2 says: after a GOAWAY, calls go over a new connection.
      if (session === undefined || session.closed) {
        if (session !== undefined) sessions.delete(session);
        session = http2.connect(baseUrl).on("goaway", (_, last) => {
          lastServed = last;
        });
        sessions.add(session);
      }
      const stream = session.request({ ":method": method, ":path": path, ...headers });
      stream.end(text);
      try {
        const [head] = (await once(stream, "response", { signal })) as [http2.IncomingHttpHeaders];
        requireOk(head[":status"], (await stream.setEncoding("utf8").toArray()).join(""));
      } catch (error) {
        // Node's own client refuses a request that meets a GOAWAY, also one that refuses nothing. HTTP/2 has it repeated.
        if (stream.rstCode !== http2.constants.NGHTTP2_REFUSED_STREAM || lastServed !== streamIdMax) throw error;
        return call();
      }
      calls.http2++;
    };
    return call;
  };
  const repeat = async (call: () => Promise<void>) => {
    while (!isDone && failures.length === 0) {
      await call().catch((error: unknown) => failures.push(error));
      if (pauseMs > 0) await delay(pauseMs);
    }
  };
  const running = Promise.all(
    [
      ...Array.from({ length: callers[0] }, () => () => overHttp1(agent)),
      ...Array.from({ length: callers[2] }, () => () => overHttp1(false)),
      ...Array.from({ length: callers[1] }, http2Caller),
    ].map(repeat),
  );
  return {
    calls,
    failures,
    /** Waits for more calls of both protocols, or for a failure. */
    async pass(count: number): Promise<void> {
      const seen = { ...calls };
      const isPassed = () => calls.http1 >= seen.http1 + count && calls.http2 >= seen.http2 + count;
      await until(() => isPassed() || failures.length > 0);
    },
    /** Ends the callers after their last calls; returns what failed. */
    async stop(): Promise<unknown[]> {
      isDone = true;
      // After a failure, the peer of the other callers may be gone.
      if (failures.length > 0) ending.abort();
      await running;
      agent.destroy();
      for (const session of sessions) session.destroy();
      return failures;
    },
  };
}
