import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import type { Agents, Pin } from "./agents.ts";
import { type EgressAnswer, type EgressCall, EgressError, type EgressFault } from "./egress.ts";
import type { Target } from "./target.ts";

const bytesMaxDefault = 1024 * 1024;
const connectMsDefault = 10_000;
/** What is read of a body that nobody wants, so that the connection can be used again. */
const unwantedBytesMax = 64 * 1024;
const unwantedMs = 2000;

interface Parts {
  readonly target: Target;
  readonly call: EgressCall;
  readonly pin: Pin;
  readonly agents: Agents;
  /** Ends the exchange; its reason is an EgressError. */
  readonly signal: AbortSignal;
}

/** Sends a request to pinned addresses and waits for the answer. */
export async function exchange(parts: Parts): Promise<EgressAnswer> {
  const { target, call, signal } = parts;
  signal.throwIfAborted();
  const progress = { connected: false, sent: false };
  const { promise, resolve, reject } = Promise.withResolvers<EgressAnswer>();
  const timers = new Set<NodeJS.Timeout>();
  const within = (ms: number, what: string): NodeJS.Timeout => {
    const timer = setTimeout(() => fail("timeout", `${target.host} did not ${what} in time`), ms);
    timers.add(timer);
    return timer;
  };
  const fail = (reason: EgressFault, message: string, cause?: unknown) => {
    reject(new EgressError(reason, message, progress.sent, cause));
    request.destroy();
  };
  const interrupted = () => {
    const { reason, message } = signal.reason as EgressError;
    fail(reason, message);
  };

  const request = open(parts);
  const connecting = within(call.connectTimeoutMs ?? connectMsDefault, "take the connection");
  const sent = () => {
    clearTimeout(connecting);
    progress.connected = true;
    progress.sent = true;
    if (call.firstByteTimeoutMs !== undefined) within(call.firstByteTimeoutMs, "begin its answer");
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
  // Nobody asked for another protocol.
  request.on("upgrade", (_response, socket) => {
    fail("connection_lost", `${target.host} left HTTP`);
    socket.destroy();
  });
  request.on("response", (response) => {
    for (const timer of timers) clearTimeout(timer);
    if (call.ignoreBody) {
      resolve(answerOf(response, Buffer.alloc(0)));
      drain(request, response);
    } else {
      collect(response, call.bytesMax ?? bytesMaxDefault, fail, (body) => resolve(answerOf(response, body)));
    }
  });

  signal.addEventListener("abort", interrupted);
  try {
    request.end(call.body);
    return await promise;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener("abort", interrupted);
  }
}

function open({ target, call, pin, agents }: Parts): ClientRequest {
  const { url, secure, host, isAddress, port } = target;
  const options: RequestOptions & Pin = {
    method: call.method,
    host,
    port,
    path: url.pathname + url.search,
    headers: { ...call.headers, host: url.host },
    // Certificates are checked against the name, whichever address answers.
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
  fail: (reason: EgressFault, message: string, cause?: unknown) => void,
  done: (body: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) fail("too_large", `The answer has more than ${bytesMax} bytes`);
    else chunks.push(chunk);
  });
  response.on("error", (error) => fail("connection_lost", "The answer broke off", error));
  response.on("end", () => done(Buffer.concat(chunks)));
}

/** Lets a small rest of an answer pass, and hangs up on a large or slow one. */
function drain(request: ClientRequest, response: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), unwantedMs);
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > unwantedBytesMax) request.destroy();
  });
  response.on("error", () => {});
  response.on("close", () => clearTimeout(timer));
}

function answerOf({ statusCode, headers }: IncomingMessage, body: Buffer): EgressAnswer {
  const flat = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]);
  return { status: statusCode!, headers: Object.fromEntries(flat), body };
}

function faultOf(error: Error, { connected, sent }: { connected: boolean; sent: boolean }): EgressFault {
  if (!connected) return "connect_failed";
  if (!sent) return "tls_failed";
  return (error as { code?: string }).code === "HPE_HEADER_OVERFLOW" ? "too_large" : "connection_lost";
}
