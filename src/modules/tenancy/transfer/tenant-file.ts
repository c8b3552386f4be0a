import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { fail } from "../../../errors/index.ts";
import { isUlid } from "../../../platform/ids/ulid.ts";

/** The version of the format. A reader reads its own version and all earlier ones. */
const formatVersion = 1;
const formatName = "switchyard tenant";

/** The first line of a file. */
export interface TenantFileHeader {
  readonly format: typeof formatName;
  readonly version: number;
  /** The last schema migration of the source. */
  readonly schema: string;
  readonly software: string;
  readonly exported_at: string;
  readonly tenant: { readonly id: string; readonly slug: string; readonly name: string };
  /** What the tenant becomes where it is imported: active if the source has suspended it for a move. */
  readonly status: "active" | "suspended";
  /** A known value, sealed with the key that sealed the secrets; null if they were left out. */
  readonly key_check: string | null;
}

/** The number of rows of a table, and the SHA-256 of their lines. */
export interface TableSum {
  readonly rows: number;
  readonly sha256: string;
}

/** The last line of a file: what must have come before it. */
export interface TenantFileEnd {
  readonly tables: Readonly<Record<string, TableSum>>;
  readonly objects: number;
}

/** A stored object; its bytes follow as base64 texts. */
export interface FileObject {
  readonly key: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

const bufferBytes = 65_536;
/** No row is longer. A line is read whole, so one without an end would fill the memory. */
const lineBytesMax = 256 * 2 ** 20;

/** Writes a file as a stream. */
export function createTenantFileWriter(to: Writable, header: Omit<TenantFileHeader, "format" | "version">) {
  const gzip = createGzip();
  const written = finished(gzip.pipe(to));
  let failure: Error | undefined;
  written.catch((error) => {
    failure = error;
  });
  let buffer = Buffer.allocUnsafe(bufferBytes);
  let used = 0;
  let hash: Hash = createHash("sha256");

  function send(chunk: Buffer): Promise<void> | undefined {
    if (gzip.write(chunk)) return undefined;
    return Promise.race([once(gzip, "drain").then(() => {}), written]);
  }

  function flush(): Promise<void> | undefined {
    const chunk = buffer.subarray(0, used);
    buffer = Buffer.allocUnsafe(bufferBytes);
    used = 0;
    return send(chunk);
  }

  /** Adds bytes, of which it keeps no reference; returns when more can be added, if not at once. */
  function add(chunk: Buffer): Promise<void> | undefined {
    hash.update(chunk);
    const full = used + chunk.length > bufferBytes ? flush() : undefined;
    if (chunk.length > bufferBytes) return send(Buffer.from(chunk));
    used += chunk.copy(buffer, used);
    return full;
  }

  const addLine = (value: unknown) => add(Buffer.from(`${JSON.stringify(value)}\n`));
  void addLine({ format: formatName, version: formatVersion, ...header });

  return {
    add,
    /** Begins a table; `sum` returns the digest of what was added since. */
    async startTable(table: string, columns: readonly string[]): Promise<void> {
      if (failure !== undefined) throw failure;
      await addLine({ table, columns });
      hash = createHash("sha256");
    },
    sum(): string {
      const sum = hash.digest("hex");
      hash = createHash("sha256");
      return sum;
    },
    async addObject(object: FileObject, body: AsyncIterable<Uint8Array>): Promise<void> {
      await addLine({ object });
      for await (const chunk of body) await addLine(Buffer.from(chunk).toString("base64"));
    },
    async end(end: TenantFileEnd): Promise<void> {
      await addLine({ end });
      await flush();
      gzip.end();
      await written;
    },
  };
}

/** A part of a file: a line of the format, or the text of a row or of bytes. */
export type FileLine =
  | { readonly kind: "table"; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: "object"; readonly object: FileObject }
  | { readonly kind: "end"; readonly end: TenantFileEnd }
  | { readonly kind: "row" | "bytes"; readonly line: Buffer };

const [objectStart, rowStart, textStart] = [...'{["'].map((character) => character.charCodeAt(0));

/** Reads a file as a stream: the header, and then the rest line by line. */
export async function openTenantFile(from: Readable) {
  const gunzip = createGunzip();
  from.on("error", (error) => gunzip.destroy(error)).pipe(gunzip);
  const lines = linesOf(gunzip);
  const { value: first } = await lines.next().catch((cause: unknown) => {
    throw refuseFile("The file is not the export of a tenant.", cause);
  });
  return { header: parseHeader(first), rest: parsedLines(lines) };
}

function parseHeader(line: Buffer | undefined): TenantFileHeader {
  let header: TenantFileHeader | undefined;
  try {
    header = JSON.parse(line?.toString() ?? "");
  } catch {}
  if (header?.format !== formatName) throw refuseFile("The file is not the export of a tenant.");
  const { version, schema, software, tenant, status } = header;
  // Keys of objects begin with the id.
  const isWhole =
    isUlid(tenant?.id) && [schema, software, tenant.slug, tenant.name].every((each) => typeof each === "string");
  if (!isWhole || typeof version !== "number" || !["active", "suspended"].includes(status))
    throw refuseFile("The file is damaged: its first line is not whole.");
  if (header.version > formatVersion) {
    throw refuseFile(
      `The file has version ${header.version} of the format, and this release reads versions up to ${formatVersion}. Import it ` +
        `with release ${header.software} or newer.`,
    );
  }
  return header;
}

async function* parsedLines(lines: AsyncIterable<Buffer>): AsyncGenerator<FileLine> {
  for await (const line of completeLines(lines)) {
    if (line[0] === rowStart) yield { kind: "row", line };
    else if (line[0] === textStart) yield { kind: "bytes", line };
    else if (line[0] === objectStart) {
      const part = partOf(line);
      yield part;
      if (part.kind === "end") return;
    } else throw unknownLine();
  }
  throw refuseFile("The file is incomplete: its end is missing.");
}

function partOf(line: Buffer): FileLine {
  try {
    const { table, columns, object, end } = JSON.parse(line.toString());
    if (typeof table === "string" && Array.isArray(columns)) return { kind: "table", table, columns };
    if (typeof object?.key === "string") return { kind: "object", object };
    if (typeof (end?.tables ?? undefined) === "object") return { kind: "end", end };
  } catch (cause) {
    throw unknownLine(cause);
  }
  throw unknownLine();
}

function unknownLine(cause?: unknown): Error {
  return refuseFile("The file is damaged: it has a line that is no part of the format.", cause);
}

/** The lines until the data ends, or cannot be decompressed because it is cut off. */
async function* completeLines(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* lines;
  } catch (cause) {
    throw refuseFile("The file is damaged or incomplete.", cause);
  }
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let parts: Buffer[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const line = chunk.subarray(from, at + 1);
      yield parts.length === 0 ? line : Buffer.concat([...parts, line]);
      parts = [];
      from = at + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
    held = from === 0 ? held + chunk.length : chunk.length - from;
    if (held > lineBytesMax) throw new Error("A line has no end.");
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

export function refuseFile(reason: string, cause?: unknown): Error {
  return fail("FAILED_PRECONDITION", { public: `${reason} Nothing was imported.`, cause });
}
