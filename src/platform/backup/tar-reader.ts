import { fail } from "../../errors/index.ts";

/** A file or folder of a tar archive. */
export interface TarEntry {
  readonly path: string;
  readonly isFolder: boolean;
  /** The content of a file, which must be read before the next entry. */
  readonly content: AsyncIterable<Buffer>;
}

const blockBytes = 512;

/** Reads the tar archive of a base backup. PostgreSQL writes files and folders with short names, and no end. */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const source = chunks[Symbol.asyncIterator]();
  let buffered: Buffer = Buffer.alloc(0);

  /** The next bytes, at least one and at most `bytesMax`; undefined at the end. */
  async function take(bytesMax: number): Promise<Buffer | undefined> {
    while (buffered.length === 0) {
      const { value, done } = await source.next();
      if (done) return undefined;
      buffered = value;
    }
    const taken = buffered.subarray(0, bytesMax);
    buffered = buffered.subarray(taken.length);
    return taken;
  }

  async function* takeExactly(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const taken = await take(left);
      if (taken === undefined) throw damaged("it ends early");
      left -= taken.length;
      yield taken;
    }
  }

  for (;;) {
    const first = await take(blockBytes);
    if (first === undefined) return;
    const header = Buffer.concat([first, ...(await Array.fromAsync(takeExactly(blockBytes - first.length)))]);
    if (header.every((byte) => byte === 0)) continue;
    const entry = readEntry(header);
    let left = entry.bytes;
    const content = (async function* () {
      for await (const part of takeExactly(entry.bytes)) {
        left -= part.length;
        yield part;
      }
    })();
    yield { path: entry.path, isFolder: entry.isFolder, content };
    for await (const _ of content);
    if (left > 0) throw new Error("The content of an entry was not read to its end.");
    for await (const _ of takeExactly((blockBytes - (entry.bytes % blockBytes)) % blockBytes));
  }
}

function readEntry(header: Buffer): { path: string; isFolder: boolean; bytes: number } {
  const text = (from: number, length: number) => header.toString("utf8", from, from + length).replace(/\0.*$/s, "");
  const number = (from: number, length: number) => Number.parseInt(text(from, length).trim() || "0", 8);
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (number(148, 8) !== sum) throw damaged("a checksum is wrong");
  const path = text(0, 100).replace(/^\.\//, "").replace(/\/$/, "");
  const type = text(156, 1) || "0";
  // A symbolic link would be a tablespace, which the embedded PostgreSQL does not have.
  if (type !== "0" && type !== "5") throw damaged(`${path} is neither a file nor a folder`);
  if (path.startsWith("/") || path.split("/").includes("..")) throw damaged(`${path} leaves the folder`);
  return { path, isFolder: type === "5", bytes: type === "5" ? 0 : number(124, 12) };
}

function damaged(what: string): Error {
  return fail("FAILED_PRECONDITION", { public: `The backup is damaged: its archive cannot be read (${what}).` });
}
