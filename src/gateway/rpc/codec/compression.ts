import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { type Failure, fail } from "../../../errors/index.ts";
import { DecompressionError, type Encoding, decompress as inflate } from "../../../platform/compression/decompress.ts";
import { bodyTooLarge } from "../../exchange.ts";

export type { Encoding };

/** The encodings supported for Connect. */
export const connectEncodings: readonly Encoding[] = ["gzip", "br"];

/** The encodings supported for gRPC and gRPC-Web. */
export const grpcEncodings: readonly Encoding[] = ["gzip"];

const gzip = promisify<Uint8Array | string, zlib.ZlibOptions, Buffer>(zlib.gzip);
const brotliCompress = promisify<Uint8Array | string, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);

// Brotli's default quality, 11, is meant for static files and too slow for responses.
const brotliOptions: zlib.BrotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

/**
 * Parses the name of a request's encoding. An unknown name is returned as a failure, to be thrown after authentication.
 * The failure lists the accepted encodings in `acceptHeader`, as the protocols require.
 */
export function requestEncoding(
  name: string | undefined,
  accepted: readonly Encoding[],
  acceptHeader: string,
): Encoding | Failure | undefined {
  if (name === undefined || name === "" || name === "identity") return undefined;
  return (
    accepted.find((encoding) => encoding === name) ??
    fail("UNSUPPORTED_MEDIA_TYPE", {
      public: `The request's encoding is not supported. Use ${[...accepted, "identity"].join(" or ")}.`,
      headers: { [acceptHeader]: accepted.join(",") },
    })
  );
}

/** Chooses the response's encoding: the caller's first one that is supported. */
export function responseEncoding(header: string | undefined, supported: readonly Encoding[]): Encoding | undefined {
  if (header === undefined) return undefined;
  for (const part of header.split(",")) {
    const [name, weight] = part.split(";");
    const found = supported.find((encoding) => encoding === name!.trim().toLowerCase());
    if (found !== undefined && !/^\s*q\s*=\s*0(\.0*)?\s*$/i.test(weight ?? "")) return found;
  }
  return undefined;
}

/** Decompresses a message. Stops as soon as the output exceeds the limit. */
export async function decompress(encoding: Encoding, data: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await inflate(encoding, data, bytesMax);
  } catch (cause) {
    if (cause instanceof DecompressionError && cause.reason === "too_large") throw bodyTooLarge(bytesMax);
    throw fail("INVALID_ARGUMENT", { public: `The request's body is not valid ${encoding} data.`, cause });
  }
}

export function compress(encoding: Encoding, data: Uint8Array | string): Promise<Buffer> {
  return encoding === "gzip" ? gzip(data, {}) : brotliCompress(data, brotliOptions);
}
