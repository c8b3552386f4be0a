// A cheap HTTP client: one raw keep-alive socket with one request in flight.
import { once } from "node:events";
import net from "node:net";

const headEnd = Buffer.from("\r\n\r\n");
const nothing = Buffer.alloc(0);
// Servers close idle connections (Node after 5 s), and a request sent at that moment is lost.
const idleMsMax = 2_000;

/**
 * A connection that opens on first use, and again after a long idle time.
 * `send` returns the status and the body's text.
 */
export function connection(port, { headers = {} } = {}) {
  const constant = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  let socket;
  let received = nothing;
  let waiting;
  let usedAt = 0;

  async function reopen() {
    const before = socket;
    socket = undefined;
    before?.destroy();
    const opened = net.connect({ port, host: "127.0.0.1", noDelay: true });
    await once(opened, "connect");
    opened.on("data", receive);
    opened.on("error", () => {});
    opened.on("close", () => {
      if (socket !== opened) return;
      socket = undefined;
      received = nothing;
      settle("reject", new Error("the server closed the connection"));
    });
    socket = opened;
  }

  function receive(chunk) {
    // An unsolicited response announces that the server closes the connection.
    if (waiting === undefined) return;
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    try {
      const answer = parse(received);
      if (answer !== undefined) settle("resolve", answer);
    } catch (error) {
      settle("reject", error);
    }
  }

  function settle(how, value) {
    const asked = waiting;
    usedAt = performance.now();
    waiting = undefined;
    received = nothing;
    asked?.[how](value);
  }

  return {
    async send(method, path, body = "", more = "") {
      if (socket === undefined || performance.now() - usedAt > idleMsMax) await reopen();
      const length = body === "" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
      const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${constant}${more}${length}\r\n`;
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(head + body);
      });
    },
    close: () => socket?.destroy(),
  };
}

/** A number of connections, one for each caller. */
export function connections(count, port, options) {
  return Array.from({ length: count }, () => connection(port, options));
}

function parse(bytes) {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return undefined;
  const head = bytes.latin1Slice(0, end);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined && status !== 204) throw new Error(`a response without a length: ${head}`);
  const bodyStart = end + headEnd.length;
  const bodyEnd = bodyStart + Number(length ?? 0);
  return bytes.length < bodyEnd ? undefined : { status, body: bytes.utf8Slice(bodyStart, bodyEnd) };
}
