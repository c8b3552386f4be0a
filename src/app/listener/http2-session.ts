import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeSync } from "node:fs";
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";

/** Requests that a caller may have open on one session. */
export const streamsMax = 250;

export interface ConnectionTimeouts {
  /** From the first byte to complete headers; for HTTP/2, to the complete preface. */
  readonly headerMs: number;
  /** Without a request. */
  readonly idleMs: number;
}

/**
 * Ends an HTTP/2 session that does not complete its preface, is idle, or has lost its peer.
 *
 * A session with open streams may be silent for a long time, so the peer gets a PING. A peer that has not acknowledged it
 * by the next idle timeout is disconnected.
 */
export function enforceSessionTimeouts(session: ServerHttp2Session, { headerMs, idleMs }: ConnectionTimeouts): void {
  let openStreams = 0;
  let unansweredPing = false;
  let timer = setTimeout(() => session.destroy(), headerMs);

  const expire = () => {
    if (openStreams === 0) {
      // GOAWAY asks the peer to close; it is disconnected if it does not. close() is not used here: destroy() after it
      // has no effect, and the socket would stay open until the peer closes it.
      session.goaway();
      timer = setTimeout(() => session.destroy(), headerMs);
      return;
    }
    if (unansweredPing) {
      session.destroy();
      return;
    }
    unansweredPing = true;
    session.ping(() => {
      unansweredPing = false;
    });
    timer.refresh();
  };
  session.once("remoteSettings", () => {
    clearTimeout(timer);
    timer = setTimeout(expire, idleMs);
  });
  session.on("stream", (stream) => {
    openStreams++;
    stream.once("close", () => {
      openStreams--;
      timer.refresh();
    });
  });
  session.once("close", () => clearTimeout(timer));
}

/** A caller may cancel everything that it has open at once, and this many requests a second afterwards. */
const resetsPerSecond = 33;

/** Ends sessions that cancel requests faster than a caller needs to. Returns a function that stops this. */
export function limitResets(sessions: ReadonlySet<ServerHttp2Session>): () => void {
  const allowances = new WeakMap<ServerHttp2Session, { left: number; atMs: number }>();
  const onStreamClose = (message: unknown) => {
    const { stream } = message as { readonly stream: ServerHttp2Stream };
    const session = stream.session as ServerHttp2Session | undefined;
    if (stream.headersSent || session === undefined || session.destroyed || !sessions.has(session)) return;
    const nowMs = performance.now();
    const allowance = allowances.get(session) ?? { left: streamsMax, atMs: nowMs };
    const earned = ((nowMs - allowance.atMs) / 1000) * resetsPerSecond;
    allowance.left = Math.min(streamsMax, allowance.left + earned) - 1;
    allowance.atMs = nowMs;
    allowances.set(session, allowance);
    if (allowance.left < 0) session.destroy(new Error("too many resets"), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  // The channel reports a reset at once. Events and nghttp2's own limit (`streamResetBurst`) take effect when all bytes that
  // were read are processed, and one read has thousands of requests with their resets.
  subscribe(streamClosed, onStreamClose);
  return () => unsubscribe(streamClosed, onStreamClose);
}

const streamClosed = "http2.server.stream.close";

/**
 * Tells a caller that its session will end, and still serves requests that are in transit. The session's own GOAWAY, which
 * names the last request that is served, follows when the listener closes.
 */
export function announceEnd(session: ServerHttp2Session): void {
  // A destroyed session stays in the listener's set until its close event, and GOAWAY throws on it.
  if (session.destroyed) return;
  // No frame may precede the settings.
  if (session.pendingSettingsAck) session.once("localSettings", () => announceEnd(session));
  else if (!writeShutdownNotice(session)) session.goaway(constants.NGHTTP2_NO_ERROR);
}

/** A GOAWAY that names the highest possible stream. */
const shutdownNotice = Buffer.from("0000080700000000007fffffff00000000", "hex");

/**
 * Writes the notice beside the session, between two of its frames. After every GOAWAY of Node's own, nghttp2 ignores new
 * requests, whatever stream it names. Returns false if that is not possible: over TLS, or while the caller does not read.
 */
function writeShutdownNotice(session: ServerHttp2Session): boolean {
  const { _handle: handle } = session.socket as { _handle?: { readonly fd: number; readonly writeQueueSize: number } };
  if (session.encrypted || handle === undefined || handle.fd < 0 || handle.writeQueueSize > 0) return false;
  try {
    if (writeSync(handle.fd, shutdownNotice) < shutdownNotice.length) session.destroy();
    return true;
  } catch {
    return false;
  }
}
