import { createHash, randomBytes, subtle } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip, type ZlibOptions } from "node:zlib";
import { fail } from "../../errors/index.ts";
import { decrypt, encrypt, nonceBytes } from "../crypto/index.ts";

/** What a blob says about itself. It is readable without a key, but cannot be changed without it. */
export interface BlobHeader {
  /** The key that the blob is stored under, so that no blob can take the place of another one. */
  readonly name: string;
  /** The size and the SHA-256 of the content. */
  readonly bytes: number;
  readonly sha256: string;
  /** The time up to which the content is complete, as a number of milliseconds. */
  readonly timeMs: number;
  /** The fingerprint of the key that encrypts the content; undefined if it is not encrypted. */
  readonly key?: string;
}

/** A blob as it is stored: magic, length of the header, header as JSON, and the content, compressed and perhaps encrypted. */
const magic = Buffer.from("SYB1");
const prefixBytes = magic.length + 4;
/** A header is shorter, with its prefix. */
export const headBytesMax = 1024;
/** Contents are opened whole, so they are bounded: a store that need not be trusted must not fill the memory. Lists are the longest. */
const contentBytesMax = 256 * 2 ** 20;
/** What does not become smaller becomes longer by a header and a little more. */
export const blobBytesMax: number = contentBytesMax + 2 ** 20;

const compress = promisify(gzip);
const decompress = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** Seals contents for a store that need not be trusted. */
export interface BlobCodec {
  /** The fingerprint of the key; undefined without one. */
  readonly key: string | undefined;
  seal(name: string, content: Buffer, timeMs: number): Promise<Buffer>;
  /** Opens a blob. Throws if it is damaged, is another one, or needs another key. */
  open(name: string, blob: Buffer): Promise<Buffer>;
}

/** `encryptionKey` is in base64; an empty one leaves contents unencrypted. */
export function createBlobCodec(encryptionKey: string): BlobCodec {
  const secret = encryptionKey === "" ? undefined : Buffer.from(encryptionKey, "base64");
  const key = secret && createHash("sha256").update("switchyard backup key").update(secret).digest("hex").slice(0, 12);
  return {
    key,
    async seal(name, content, timeMs) {
      if (content.length > contentBytesMax) throw new Error(`${name} is too large to be stored.`);
      const header: BlobHeader = {
        ...{ name, bytes: content.length, sha256: await sha256Of(content), timeMs: Math.floor(timeMs) },
        ...(key !== undefined && { key }),
      };
      const head = headOf(header);
      const body = await compress(content, { level: 1 });
      if (secret === undefined) return Buffer.concat([head, body]);
      const nonce = randomBytes(nonceBytes);
      return Buffer.concat([head, nonce, encrypt(secret, nonce, body, head)]);
    },
    async open(name, blob) {
      const header = readHeader(name, blob);
      requireKey(header.key, key);
      const headEnd = prefixBytes + blob.readUInt32BE(magic.length);
      try {
        const stored = blob.subarray(headEnd);
        const body =
          secret === undefined
            ? stored
            : decrypt(secret, stored.subarray(0, nonceBytes), stored.subarray(nonceBytes), blob.subarray(0, headEnd));
        const content = await decompress(body, {
          maxOutputLength: Math.min(Math.max(1, header.bytes), contentBytesMax),
        });
        if (content.length === header.bytes && (await sha256Of(content)) === header.sha256) return content;
      } catch (cause) {
        throw damaged(name, cause);
      }
      throw damaged(name);
    },
  };
}

/** Reads the header of a blob, or of its first bytes. */
export function readHeader(name: string, blob: Buffer): BlobHeader {
  try {
    if (!blob.subarray(0, magic.length).equals(magic)) throw damaged(name);
    const length = blob.readUInt32BE(magic.length);
    const header: BlobHeader = JSON.parse(blob.toString("utf8", prefixBytes, prefixBytes + length));
    if (header.name === name) return header;
  } catch (cause) {
    throw damaged(name, cause);
  }
  throw damaged(name);
}

function headOf(header: BlobHeader): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([magic, length, text]);
}

function requireKey(needed: string | undefined, given: string | undefined): void {
  if (needed === given) return;
  const have = given === undefined ? "none is set" : `the key that is set has the fingerprint ${given}`;
  throw fail("FAILED_PRECONDITION", {
    public:
      needed === undefined
        ? "backup.encryption_key: this backup is not encrypted. Leave the key empty to read it."
        : `backup.encryption_key: this backup needs the key with the fingerprint ${needed}; ${have}.`,
  });
}

function damaged(name: string, cause?: unknown): Error {
  return fail("FAILED_PRECONDITION", { public: `The backup is damaged: ${name} is not what was stored.`, cause });
}

/** The SHA-256 in hexadecimal. It is computed beside the event loop, because contents are large. */
export async function sha256Of(content: Buffer): Promise<string> {
  return Buffer.from(await subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>)).toString("hex");
}
