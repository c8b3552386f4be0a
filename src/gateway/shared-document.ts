import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { setImmediate as yieldLoop } from "node:timers/promises";
import { gzip } from "node:zlib";
import { type Exchange, headerOf, writeHead } from "./exchange.ts";
import { endUnlessSent } from "./exchange-cleanup.ts";
import { matchesEtag } from "./rest/byte-stream.ts";

/** A document that is the same for every caller. It is encoded and compressed once. */
export interface SharedDocument {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  /** Undefined until the compression is done, and for content that does not shrink. */
  compressed: Buffer | undefined;
}

/** Creates a document and starts to compress it. Until that is done, callers get it as it is. */
export function createDocument(type: string, content: Buffer | string): SharedDocument {
  const body = typeof content === "string" ? Buffer.from(content) : content;
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const document: SharedDocument = { type, body, etag, compressed: undefined };
  gzip(body, (error, compressed) => {
    if (error === null && compressed.length < body.length * 0.9) document.compressed = compressed;
  });
  return document;
}

/** Sends a document, or 304 to a caller that has it. */
export async function sendDocument(
  exchange: Exchange,
  { type, body, etag, compressed }: SharedDocument,
  own: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { request, response } = exchange;
  const vary = [exchange.headers.vary, own.vary, "Accept-Encoding"].filter((name) => name !== undefined).join(", ");
  // Always revalidated, so that an upgraded node is not shown with old files.
  const headers: Record<string, string> = { "cache-control": "no-cache", ...own, etag, vary };
  if (matchesEtag(headerOf(request, "if-none-match"), etag)) {
    writeHead(exchange, 304, headers);
    response.end();
    return;
  }
  const isCompressed = compressed !== undefined && /\bgzip\b/.test(headerOf(request, "accept-encoding") ?? "");
  if (isCompressed) headers["content-encoding"] = "gzip";
  await sendShared(exchange, { ...headers, "content-type": type }, isCompressed ? compressed : body);
}

/**
 * Sends bytes that several callers share. No caller gets a copy, so those that do not read hold no memory. A caller that has
 * not read everything within the body timeout is dropped.
 */
export async function sendShared(exchange: Exchange, headers: Record<string, string>, body: Buffer): Promise<void> {
  const { request, response } = exchange;
  writeHead(exchange, 200, { ...headers, "content-length": String(body.length) });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  endUnlessSent(exchange);
  try {
    await pipeline(piecesOf(body), response);
  } catch {
    // The caller has disconnected.
  }
}

const pieceBytes = 64 * 1024;

/**
 * The operating system accepts megabytes at once, so that a few hundred callers could occupy the event loop for a second.
 * Between two pieces for one caller, the others get a turn.
 */
async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) {
    if (at > 0) await yieldLoop();
    yield body.subarray(at, at + pieceBytes);
  }
}
