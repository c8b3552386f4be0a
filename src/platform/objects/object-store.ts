import { reasonOf } from "../../errors/index.ts";

/** The size and digest that a body must have. */
export interface ExpectedBody {
  readonly sizeBytes: number;
  /** The SHA-256 of the body, in lower-case hexadecimal. */
  readonly sha256: string;
}

/** A part of an object. */
export interface ByteRange {
  readonly firstByte: number;
  /** At least 1. */
  readonly byteCount: number;
}

/** An object that is stored. */
export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** When it was stored, by the clock of the store. */
  readonly storedAtMs: number;
}

/** The bytes of an open object. */
export interface ObjectReader extends AsyncIterable<Uint8Array> {
  /** Frees the file or connection of a reader that is not read to its end, even if reading has not begun. */
  close(): void;
}

/** Stores objects. Keys are paths of plain names: letters, digits, dashes and dots, separated by slashes. */
export interface ObjectStore {
  /**
   * Stores a body that arrives in parts. It holds one part at a time in memory. The object exists, durably, when the
   * promise resolves. Throws ObjectMismatch if the body is not the expected one; then nothing is stored.
   */
  put(key: string, body: AsyncIterable<Uint8Array>, expected: ExpectedBody, signal: AbortSignal): Promise<void>;
  /** The size of an object; undefined if there is none. */
  stat(key: string): Promise<{ readonly sizeBytes: number } | undefined>;
  /** Reads a part of an object; undefined if there is none. The object may be removed meanwhile. */
  read(key: string, range: ByteRange, signal: AbortSignal): Promise<ObjectReader | undefined>;
  /** The objects whose keys begin with a prefix, which is empty or ends with a slash; in no order. */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** Removes an object, if there is one. */
  remove(key: string): Promise<void>;
  /** Removes the remains of writes that started before this time and did not end. Returns their number. */
  removeAbandonedWrites(beforeMs: number): Promise<number>;
  close(): void;
}

/** Keys are created by the service. This is the last line of defence against one that leaves the directory or the bucket. */
export function requireKey(key: string): void {
  if (!/^[A-Za-z0-9-]+(?:[/.][A-Za-z0-9-]+)*$/.test(key)) throw new Error(`${key} is not a key of an object`);
}

/** A body is not the expected one. */
export class ObjectMismatch extends Error {
  readonly reason: "too_long" | "too_short" | "digest";

  constructor(reason: ObjectMismatch["reason"]) {
    super(`The body does not match: ${reason}.`);
    this.reason = reason;
  }
}

/** The store did not do what it was asked to. The message is for operators: it names places, which callers must not learn. */
export class ObjectStoreError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(options === undefined ? what : `${what} ${reasonOf(options.cause)}`, options);
  }
}
