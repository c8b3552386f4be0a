import { promisify } from "node:util";
import * as zlib from "node:zlib";

/** A supported compression of bodies. */
export type Encoding = "gzip" | "br";

const inflate = {
  gzip: promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip),
  br: promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress),
} as const satisfies Record<Encoding, unknown>;

/** Why data was not decompressed. */
export class DecompressionError extends Error {
  readonly reason: "too_large" | "malformed";

  constructor(cause: unknown) {
    super("The data cannot be decompressed.", { cause });
    this.reason = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? "too_large" : "malformed";
  }
}

/** Decompresses data. Stops as soon as the output exceeds the limit; every failure is a DecompressionError. */
export async function decompress(encoding: Encoding, data: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await inflate[encoding](data, { maxOutputLength: bytesMax });
  } catch (cause) {
    throw new DecompressionError(cause);
  }
}
