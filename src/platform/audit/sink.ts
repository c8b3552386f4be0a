import { type FileHandle, open } from "node:fs/promises";
import type { Writable } from "node:stream";
import { genesis, type Head } from "./chain.ts";
import { lockFile } from "./file-lock.ts";
import { type FileTail, readTail } from "./file-tail.ts";

/** The destination of lines. Writes are serial, and a rejected write leaves the destination unchanged. */
export interface Sink {
  /** The head that the chain continues from. */
  readonly head: Head;
  /** A torn line that the next write must terminate and record. */
  readonly torn: FileTail["torn"];
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Creates a sink on a stream of the process. A stream cannot be read back, so every start begins a new chain. */
export function createStreamSink(stream: Writable): Sink {
  return {
    head: genesis,
    torn: undefined,
    write: (text) =>
      new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve()))),
    // The stream belongs to the process and stays open.
    close: async () => {},
  };
}

/** Opens a sink on an exclusively locked file, continued from its last complete line. */
export async function openFileSink(path: string, chained: boolean): Promise<Sink> {
  const lock = lockFile(path);
  let file: FileHandle | undefined;
  try {
    file = await open(path, "a+", 0o600);
    const tail = await readTail(file, path, chained);
    return createFileSink(file, tail, () => lock.release());
  } catch (error) {
    await file?.close();
    lock.release();
    throw error;
  }
}

/** Creates a sink on an open file; separate from `openFileSink` so that a test can provide a failing file. */
export function createFileSink(file: FileHandle, tail: FileTail, release: () => void): Sink {
  let sizeBytes = tail.sizeBytes;
  let dirty = false;

  return {
    head: tail.head,
    torn: tail.torn,
    async write(text) {
      const bytes = Buffer.from(text, "utf8");
      // A failed write (such as on a full disk) may have left part of a line, which is truncated before the next write.
      if (dirty) await file.truncate(sizeBytes);
      dirty = true;
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
      sizeBytes += bytes.length;
      dirty = false;
    },
    async close() {
      try {
        if (dirty) await file.truncate(sizeBytes);
        await file.sync();
      } finally {
        await file.close();
        release();
      }
    },
  };
}
