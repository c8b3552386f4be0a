import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type SecureClientSessionOptions,
} from "node:http2";
import type { Pin } from "./agents.ts";
import { bytesMaxDefault, type EgressCall, EgressError, type EgressFailure, type EgressResponse } from "./egress.ts";
import { rejectionOf } from "./signal-rejection.ts";
import type { Target } from "./target.ts";

const connectMsDefault = 10_000;
/** A session without requests is closed after this time. */
const idleMs = 60_000;

interface Dependencies {
  readonly target: Target;
  readonly call: EgressCall;
  readonly pin: Pin;
  /** Aborts the exchange; its reason is an EgressError. */
  readonly signal: AbortSignal;
}

/** Connections over which many requests are sent at the same time. */
export interface Http2Sessions {
  /** Sends a request to pinned addresses and waits for the response. */
  exchange(dependencies: Dependencies): Promise<EgressResponse>;
  close(): void;
}

/** Creates the sessions of this node: one for each host at the same addresses. `ca` replaces the trusted authorities. */
export function createHttp2Sessions(ca: string | undefined): Http2Sessions {
  const sessions = new Map<string, Promise<ClientHttp2Session>>();
  const keyOf = ({ target, pin }: Dependencies) => `${target.url.origin} ${pin.pinned}`;

  function sessionFor(dependencies: Dependencies): Promise<ClientHttp2Session> {
    const key = keyOf(dependencies);
    const known = sessions.get(key);
    if (known !== undefined) return known;
    const forget = () => {
      if (sessions.get(key) === opening) sessions.delete(key);
    };
    const opening = open(dependencies, ca, forget);
    sessions.set(key, opening);
    opening.catch(forget);
    return opening;
  }

  return {
    async exchange(dependencies) {
      const opening = sessionFor(dependencies);
      // Other callers wait for the same session, so one that leaves does not close it.
      const session = await Promise.race([opening, rejectionOf(dependencies.signal)]);
      dependencies.signal.throwIfAborted();
      const retire = () => {
        const key = keyOf(dependencies);
        if (sessions.get(key) === opening) sessions.delete(key);
        session.close();
      };
      return request(session, dependencies, retire);
    },
    close() {
      for (const opening of sessions.values()) {
        opening.then(
          (session) => session.destroy(),
          () => {},
        );
      }
      sessions.clear();
    },
  };
}

/** Connects. Nothing is sent to a server that does not speak HTTP/2. */
function open(
  { target, call, pin }: Dependencies,
  ca: string | undefined,
  forget: () => void,
): Promise<ClientHttp2Session> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientHttp2Session>();
  const options: SecureClientSessionOptions = {
    lookup: pin.lookup,
    rejectUnauthorized: true,
    ...(target.isAddress ? {} : { servername: target.host }),
    ...(ca !== undefined && { ca }),
  };
  const session = connect(target.url.origin, options);
  let connected = false;
  const fail = (reason: EgressFailure, message: string, cause?: unknown) => {
    reject(new EgressError(reason, `${target.host} ${message}`, false, cause));
    session.destroy();
  };
  const timer = setTimeout(
    () => fail("timeout", "did not accept the connection in time"),
    call.connectTimeoutMs ?? connectMsDefault,
  );
  session.socket.once("connect", () => {
    connected = true;
  });
  session.once("connect", () => {
    clearTimeout(timer);
    resolve(session);
  });
  // A failure after the connection was made ends the requests on it, which report it.
  session.on("error", (error) => fail(connected ? "tls_failed" : "connect_failed", "could not be reached", error));
  session.on("goaway", forget);
  session.on("close", () => {
    clearTimeout(timer);
    forget();
    fail(connected ? "connection_lost" : "connect_failed", "closed the connection");
  });
  session.setTimeout(idleMs, () => session.close());
  session.unref();
  return promise;
}

/** Sends a request. `retire` ends the use of the session; requests in progress may finish. */
function request(
  session: ClientHttp2Session,
  { target, call, signal }: Dependencies,
  retire: () => void,
): Promise<EgressResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>();
  const stream = send(session, target, call);
  let isRefused = false;
  const fail = (reason: EgressFailure, message: string, cause?: unknown) => {
    reject(new EgressError(reason, `${target.host}: ${message}`, !isRefused, cause));
    stream.close(constants.NGHTTP2_CANCEL);
  };
  const onAbort = () => {
    const { reason, message } = signal.reason as EgressError;
    fail(reason, message);
    // The connection may be dead without a sign, which the system notices only after many minutes.
    if (reason === "timeout") retire();
  };
  signal.addEventListener("abort", onAbort);
  const chunks: Buffer[] = [];
  let headers: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
  let bytes = 0;
  stream.on("response", (given) => {
    headers = given;
  });
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > (call.bytesMax ?? bytesMaxDefault)) fail("too_large", "the response is too large");
    else chunks.push(chunk);
  });
  stream.on("error", (error) => {
    // The server did not process a refused stream (RFC 9113, 8.7).
    isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    fail("connection_lost", "the exchange failed", error);
  });
  stream.on("close", () => {
    signal.removeEventListener("abort", onAbort);
    const status = headers[":status"];
    const isComplete = stream.readableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR;
    const hasLength = Number(headers["content-length"] ?? bytes) === bytes;
    if (status === undefined || !isComplete || !hasLength) fail("connection_lost", "the exchange was interrupted");
    else resolve({ status, headers: plainHeaders(headers), body: Buffer.concat(chunks) });
  });
  stream.end(call.body);
  return promise;
}

function send(session: ClientHttp2Session, { url }: Target, call: EgressCall): ClientHttp2Stream {
  try {
    return session.request({ ...call.headers, ":method": call.method, ":path": url.pathname + url.search });
  } catch (cause) {
    if (session.destroyed || session.closed) {
      throw new EgressError("connect_failed", `${url.hostname} closed the connection`, false, cause);
    }
    throw new EgressError("invalid_url", "The method, the path or a header cannot be sent.", false, cause);
  }
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(":") || value === undefined
      ? []
      : [[name, Array.isArray(value) ? value.join(", ") : String(value)]],
  );
  return Object.fromEntries(plain);
}
