import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { type Failure, fail } from "../../../errors/index.ts";
import { tooLarge } from "../../exchange.ts";

/** A compression that messages may come in or go out with. */
export type Encoding = "gzip" | "br";

/** What Connect speaks here. */
export const connectEncodings: readonly Encoding[] = ["gzip", "br"];

/** What gRPC and gRPC-Web speak here. */
export const grpcEncodings: readonly Encoding[] = ["gzip"];

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);
const gzip = promisify<Uint8Array | string, zlib.ZlibOptions, Buffer>(zlib.gzip);
const brotliDecompress = promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress);
const brotliCompress = promisify<Uint8Array | string, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);

// Brotli's default quality, 11, is made for files that are compressed once.
const brotliOptions: zlib.BrotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

/**
 * Reads the name of a request's encoding. An unknown one comes back as the failure to throw once the caller is known;
 * it names the accepted ones in `acceptHeader`, as the protocols ask.
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
      public: `The request's encoding is not supported; use one of ${accepted.join(", ")} or identity.`,
      headers: { [acceptHeader]: accepted.join(",") },
    })
  );
}

/** Chooses the answer's encoding: the first that the caller names and that is spoken here. */
export function responseEncoding(header: string | undefined, spoken: readonly Encoding[]): Encoding | undefined {
  if (header === undefined) return undefined;
  for (const part of header.split(",")) {
    const [name, weight] = part.split(";");
    const found = spoken.find((encoding) => encoding === name!.trim().toLowerCase());
    if (found !== undefined && !/^\s*q\s*=\s*0(\.0*)?\s*$/i.test(weight ?? "")) return found;
  }
  return undefined;
}

/** Inflates a message; stops as soon as it proves larger than allowed. */
export async function decompress(encoding: Encoding, data: Buffer, bytesMax: number): Promise<Buffer> {
  const inflate = encoding === "gzip" ? gunzip : brotliDecompress;
  try {
    return await inflate(data, { maxOutputLength: bytesMax });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw fail("INVALID_ARGUMENT", { public: `The request's body is not valid ${encoding} data.`, cause });
  }
}

/** Compresses a message. */
export function compress(encoding: Encoding, data: Uint8Array | string): Promise<Buffer> {
  return encoding === "gzip" ? gzip(data, {}) : brotliCompress(data, brotliOptions);
}
