import type { ServerHttp2Session } from "node:http2";

/** How long the parts of a connection's life may take. */
export interface ConnectionTimeouts {
  /** From the first byte to whole headers; for HTTP/2, to the whole preface. */
  readonly headerMs: number;
  /** Without a request. */
  readonly idleMs: number;
}

/**
 * Ends an HTTP/2 session that does not complete its preface, that is idle, or whose peer is gone.
 *
 * A session with open streams may be silent for long, so its peer is asked with a PING; one that does not answer until
 * the next is gone.
 */
export function boundSession(session: ServerHttp2Session, { headerMs, idleMs }: ConnectionTimeouts): void {
  let openStreams = 0;
  let unansweredPing = false;
  let timer = setTimeout(() => session.destroy(), headerMs);

  const expire = () => {
    if (openStreams === 0) {
      // The peer is asked to leave, and is disconnected if it stays. After close(), destroy() would do nothing and the
      // socket would stay open until the peer closes it.
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
