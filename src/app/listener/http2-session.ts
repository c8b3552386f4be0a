import type { ServerHttp2Session } from "node:http2";

/** The timeouts of a connection. */
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
