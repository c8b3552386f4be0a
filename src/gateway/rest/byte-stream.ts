import { once } from "node:events";
import type { Message } from "@bufbuild/protobuf";
import type { HttpBody } from "../../../gen/google/api/httpbody_pb.ts";
import { cancelStream, markWritten } from "../../chain/stream.ts";
import { fail } from "../../errors/index.ts";
import { type Exchange, headerOf, withBodyTimeout, writeHead } from "../exchange.ts";
import { abortResponse } from "../exchange-cleanup.ts";
import { interruptible } from "../interrupt.ts";

/** Writes a stream of raw bytes. Throws only before the first byte is sent. */
type ByteStreamWriter = (
  exchange: Exchange,
  headers: Record<string, string>,
  stream: AsyncIterable<Message>,
) => Promise<void>;

/** Metadata in the first message of a byte stream. */
interface ByteStreamPart {
  readonly body?: HttpBody;
  readonly content?: {
    readonly firstByte: bigint;
    readonly byteCount: bigint;
    readonly totalBytes: bigint;
    readonly sha256: string;
    readonly partial: boolean;
  };
}

/** Writes the bytes of one file, whose range and digest are in the first message. */
export const writeByteStream: ByteStreamWriter = async (exchange, headers, stream) => {
  const { request, response } = exchange;
  const iterator = stream[Symbol.asyncIterator]();
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort(fail("CANCELED")));
  const whileOpen = interruptible(disconnected.signal);
  try {
    let step = await whileOpen(iterator.next());
    const status = writeStatus(exchange, headers, step.value as ByteStreamPart);
    if (status === 304 || request.method === "HEAD") {
      response.end();
      return;
    }
    try {
      for (; !step.done; step = await whileOpen(iterator.next())) {
        const data = (step.value as ByteStreamPart).body?.data;
        if (data === undefined || data.length === 0) continue;
        const flowing = (response as NodeJS.WritableStream).write(data);
        markWritten(step.value);
        if (!flowing) await whileOpen(withBodyTimeout(exchange, once(response, "drain")));
      }
      response.end();
    } catch {
      // The status is sent. An incomplete body tells the caller that it failed.
      abortResponse(response);
    }
  } finally {
    cancelStream({ [Symbol.asyncIterator]: () => iterator });
  }
};

function writeStatus(exchange: Exchange, headers: Record<string, string>, { body, content }: ByteStreamPart): number {
  const { firstByte, byteCount, totalBytes, sha256, partial } = content!;
  const etag = `"${sha256}"`;
  const common = { ...headers, etag, "accept-ranges": "bytes", "cache-control": "private, no-cache" };
  if (matchesEtag(headerOf(exchange.request, "if-none-match"), etag)) {
    writeHead(exchange, 304, common);
    return 304;
  }
  const status = partial ? 206 : 200;
  writeHead(exchange, status, {
    ...common,
    ...(partial && { "content-range": `bytes ${firstByte}-${firstByte + byteCount - 1n}/${totalBytes}` }),
    "content-type": body?.contentType || "application/octet-stream",
    "content-length": String(byteCount),
    // The bytes are from a tenant. A browser must not run them in the origin of the service.
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
  });
  return status;
}

/** Whether If-None-Match is `*` or lists this ETag, weak or strong. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === etag);
}
