import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import type { Agents, Pin } from "./agents.ts";
import { bytesMaxDefault, type EgressCall, EgressError, type EgressFailure, type EgressResponse } from "./egress.ts";
import type { Target } from "./target.ts";

const connectMsDefault = 10_000;
/** Limit for reading an ignored body, which is read so that the connection can be reused. */
const ignoredBodyBytesMax = 64 * 1024;
const ignoredBodyMs = 2000;

interface Dependencies {
  readonly target: Target;
  readonly call: EgressCall;
  readonly pin: Pin;
  readonly agents: Agents;
  /** Aborts the exchange; its reason is an EgressError. */
  readonly signal: AbortSignal;
}

/** Sends a request to pinned addresses and waits for the response. */
export async function exchange(dependencies: Dependencies): Promise<EgressResponse> {
  const { target, call, signal } = dependencies;
  signal.throwIfAborted();
  const progress = { connected: false, sent: false };
  const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>();
  const timers = new Set<NodeJS.Timeout>();
  const within = (ms: number, what: string): NodeJS.Timeout => {
    const timer = setTimeout(() => fail("timeout", `${target.host} did not ${what} in time`), ms);
    timers.add(timer);
    return timer;
  };
  const fail = (reason: EgressFailure, message: string, cause?: unknown) => {
    reject(new EgressError(reason, message, progress.sent, cause));
    request.destroy();
  };
  const onAbort = () => {
    const { reason, message } = signal.reason as EgressError;
    fail(reason, message);
  };

  const request = open(dependencies);
  const connecting = within(call.connectTimeoutMs ?? connectMsDefault, "accept the connection");
  const sent = () => {
    clearTimeout(connecting);
    progress.connected = true;
    progress.sent = true;
    if (call.firstByteTimeoutMs !== undefined) within(call.firstByteTimeoutMs, "start its response");
  };
  request.on("socket", (socket: Socket) => {
    if (request.reusedSocket) return sent();
    socket.once("connect", () => {
      progress.connected = true;
      if (!target.secure) sent();
    });
    socket.once("secureConnect", sent);
  });
  request.on("error", (error) => fail(faultOf(error, progress), `${target.host}: the exchange failed`, error));
  // A protocol upgrade is never requested.
  request.on("upgrade", (_response, socket) => {
    fail("connection_lost", `${target.host} switched to another protocol`);
    socket.destroy();
  });
  request.on("response", (response) => {
    for (const timer of timers) clearTimeout(timer);
    if (call.ignoreBody) {
      resolve(toResponse(response, Buffer.alloc(0)));
      drain(request, response);
    } else {
      collect(response, call.bytesMax ?? bytesMaxDefault, fail, (body) => resolve(toResponse(response, body)));
    }
  });

  signal.addEventListener("abort", onAbort);
  try {
    request.end(call.body);
    return await promise;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function open({ target, call, pin, agents }: Dependencies): ClientRequest {
  const { url, secure, host, isAddress, port } = target;
  const options: RequestOptions & Pin = {
    method: call.method,
    host,
    port,
    path: url.pathname + url.search,
    headers: { ...call.headers, host: url.host },
    // The certificate is verified against the name, regardless of the address.
    servername: isAddress ? "" : host,
    ...pin,
  };
  try {
    return secure ? requestHttps({ ...options, agent: agents.https }) : requestHttp({ ...options, agent: agents.http });
  } catch (cause) {
    throw new EgressError("invalid_url", "The method, the path or a header cannot be sent.", false, cause);
  }
}

function collect(
  response: IncomingMessage,
  bytesMax: number,
  fail: (reason: EgressFailure, message: string, cause?: unknown) => void,
  done: (body: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) fail("too_large", `The response has more than ${bytesMax} bytes`);
    else chunks.push(chunk);
  });
  response.on("error", (error) => fail("connection_lost", "The response was interrupted", error));
  response.on("end", () => done(Buffer.concat(chunks)));
}

/** Reads and discards a small body, and closes the connection on a large or slow one. */
function drain(request: ClientRequest, response: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), ignoredBodyMs);
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ignoredBodyBytesMax) request.destroy();
  });
  response.on("error", () => {});
  response.on("close", () => clearTimeout(timer));
}

function toResponse({ statusCode, headers }: IncomingMessage, body: Buffer): EgressResponse {
  const flat = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]);
  return { status: statusCode!, headers: Object.fromEntries(flat), body };
}

function faultOf(error: Error, { connected, sent }: { connected: boolean; sent: boolean }): EgressFailure {
  if (!connected) return "connect_failed";
  if (!sent) return "tls_failed";
  return (error as { code?: string }).code === "HPE_HEADER_OVERFLOW" ? "too_large" : "connection_lost";
}
