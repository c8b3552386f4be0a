import { type FileHandle, open } from "node:fs/promises";
import type { Writable } from "node:stream";
import { genesis, type Head } from "./chain.ts";
import { lockFile } from "./file-lock.ts";
import { type FileTail, readTail } from "./file-tail.ts";

/** Where lines go. Writes come one at a time; a rejected one left nothing behind. */
export interface Sink {
  /** Where the chain continues. */
  readonly head: Head;
  /** A torn line that the next write must end and record. */
  readonly torn: FileTail["torn"];
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** A sink on a stream of the process. It cannot be read back, so every start begins a new chain. */
export function streamSink(stream: Writable): Sink {
  return {
    head: genesis,
    torn: undefined,
    write: (text) =>
      new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve()))),
    // The stream is the process's own, not ours to end.
    close: async () => {},
  };
}

/** A sink on a file that is this process's alone, continued from its last whole line. */
export async function fileSink(path: string, chained: boolean): Promise<Sink> {
  const lock = lockFile(path);
  let file: FileHandle | undefined;
  try {
    file = await open(path, "a+", 0o600);
    const tail = await readTail(file, path, chained);
    return appendingSink(file, tail, () => lock.release());
  } catch (error) {
    await file?.close();
    lock.release();
    throw error;
  }
}

/** The file sink over an open file; apart from `fileSink` so that a test can hand in a file that fails. */
export function appendingSink(file: FileHandle, tail: FileTail, release: () => void): Sink {
  let sizeBytes = tail.sizeBytes;
  let dirty = false;

  return {
    head: tail.head,
    torn: tail.torn,
    async write(text) {
      const bytes = Buffer.from(text, "utf8");
      // A write that failed half-way (a full disk) left part of a line: cut it off before the next one.
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
