import { fail } from "../../errors/index.ts";
import { type ListedObject, type ObjectStore, ObjectStoreError } from "../objects/index.ts";
import { type BlobHeader, blobBytesMax, createBlobCodec, headBytesMax, readHeader, sha256Of } from "./sealed-blob.ts";

/** Where backups are stored, as sealed blobs. */
export interface BackupTarget {
  /** The fingerprint of the key that encrypts; undefined without one. */
  readonly key: string | undefined;
  /** Stores a blob and returns its stored size. */
  write(name: string, content: Buffer, timeMs: number): Promise<number>;
  /** Stores a blob that is never changed. One that is there already is left, but must have the same content. */
  writeOnce(name: string, content: Buffer, timeMs: number): Promise<void>;
  /** Throws if the blob is missing, damaged, or needs another key. */
  read(name: string): Promise<Buffer>;
  readHeader(name: string): Promise<BlobHeader | undefined>;
  list(prefix: string): AsyncIterable<ListedObject>;
  remove(name: string): Promise<void>;
  /** Removes the remains of writes that started before this time and did not end. */
  removeAbandonedWrites(beforeMs: number): Promise<number>;
  close(): void;
}

/** A blob waits for the store no longer. */
const writeMs = 10 * 60_000;

/** What a backup is made of. It is readable without a key, so that backups can be listed and removed. */
const readable = /\/(manifest|objects)$/;

/** `encryptionKey` is in base64; an empty one leaves blobs unencrypted. */
export function createBackupTarget(store: ObjectStore, encryptionKey: string): BackupTarget {
  const codec = createBlobCodec(encryptionKey);
  const plainCodec = createBlobCodec("");
  const codecOf = (name: string) => (readable.test(name) ? plainCodec : codec);

  /** The first bytes of a blob. One that is too long is cut off, and therefore damaged. */
  async function readBytes(name: string, bytesMax: number): Promise<Buffer | undefined> {
    const found = await store.stat(name);
    if (found === undefined || found.sizeBytes === 0) return undefined;
    const range = { firstByte: 0, byteCount: Math.min(found.sizeBytes, bytesMax) };
    const reader = await store.read(name, range, AbortSignal.timeout(writeMs));
    return reader && Buffer.concat(await Array.fromAsync(reader));
  }

  async function write(name: string, content: Buffer, timeMs: number): Promise<number> {
    const blob = await codecOf(name).seal(name, content, timeMs);
    const expected = { sizeBytes: blob.length, sha256: await sha256Of(blob) };
    for (let attempt = 1; ; attempt++) {
      try {
        await store.put(name, partsOf(blob), expected, AbortSignal.timeout(writeMs));
        return blob.length;
      } catch (error) {
        if (attempt === 3 || !(error instanceof ObjectStoreError)) throw error;
      }
    }
  }

  async function readStoredHeader(name: string): Promise<BlobHeader | undefined> {
    const head = await readBytes(name, headBytesMax);
    return head && readHeader(name, head);
  }

  return {
    key: codec.key,
    write,
    async writeOnce(name, content, timeMs) {
      const header = await readStoredHeader(name);
      if (header?.key !== codec.key || header === undefined) await write(name, content, timeMs);
      else if (header.sha256 !== (await sha256Of(content))) {
        throw fail("FAILED_PRECONDITION", {
          public: `${name} is already in the backup store with other content: another copy of this database archives there. Choose another backup.file.dir or backup.s3.prefix.`,
        });
      }
    },
    async read(name) {
      const blob = await readBytes(name, blobBytesMax);
      if (blob === undefined)
        throw fail("FAILED_PRECONDITION", { public: `The backup is incomplete: ${name} is missing.` });
      return codecOf(name).open(name, blob);
    },
    readHeader: readStoredHeader,
    list: (prefix) => store.list(prefix),
    remove: (name) => store.remove(name),
    removeAbandonedWrites: (beforeMs) => store.removeAbandonedWrites(beforeMs),
    close: () => store.close(),
  };
}

async function* partsOf(blob: Buffer): AsyncGenerator<Uint8Array> {
  const partBytes = 256 * 1024;
  for (let at = 0; at < blob.length; at += partBytes) yield blob.subarray(at, at + partBytes);
}
