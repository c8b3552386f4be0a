import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Types of HTTP/2 frames. */
export const frameTypes = { headers: 1, reset: 3, settings: 4, goaway: 7 } as const;

/** Flags of HEADERS frames. */
const endStream = 0x1;
const endHeaders = 0x4;

/** Encodes an HTTP/2 frame. */
export function encodeFrame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The start of a connection. A window of 0 forbids the peer to send bodies. */
export function encodePreface(window?: number): Buffer {
  const settings = Buffer.alloc(window === undefined ? 0 : 6);
  if (window !== undefined) {
    settings.writeUInt16BE(4, 0);
    settings.writeUInt32BE(window, 2);
  }
  return Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    encodeFrame(frameTypes.settings, 0, 0, settings),
  ]);
}

/** Encodes a GET request. */
export function encodeGet(stream: number, path: string): Buffer {
  const literal = (name: number, value: string) => Buffer.from([name, value.length, ...Buffer.from(value)]);
  // The static table has `:method: GET` at 2 and `:scheme: http` at 6; `:path` and `:authority` are the names 4 and 1.
  const block = Buffer.concat([Buffer.from([0x82, 0x86]), literal(0x04, path), literal(0x01, "localhost")]);
  return encodeFrame(frameTypes.headers, endHeaders | endStream, stream, block);
}

/** Encodes requests that are each reset immediately, as short as possible: the second refers to the headers of the first. */
export function resetRequests(count: number): Buffer[] {
  const first = Buffer.from([0x82, 0x86, 0x84, 0x41, 9, ...Buffer.from("localhost")]);
  const others = Buffer.from([0x82, 0x86, 0x84, 0xbe]);
  return Array.from({ length: count }, (_, nth) => {
    const stream = 2 * nth + 1;
    const headers = encodeFrame(frameTypes.headers, endHeaders | endStream, stream, nth === 0 ? first : others);
    return Buffer.concat([headers, encodeFrame(frameTypes.reset, 0, stream, Buffer.from([0, 0, 0, 8]))]);
  });
}

/** A frame of the peer. */
export interface ReceivedFrame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Decodes the whole frames of received bytes. */
export function decodeFrames(bytes: Buffer): ReceivedFrame[] {
  const frames: ReceivedFrame[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    frames.push({ type: bytes[at + 3]!, stream, payload: bytes.subarray(at + 9, end) });
    at = end;
  }
  return frames;
}

/** Opens a TCP connection to a URL's host. */
export async function connectTo(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).on("error", () => {});
  await once(socket, "connect");
  return socket;
}
