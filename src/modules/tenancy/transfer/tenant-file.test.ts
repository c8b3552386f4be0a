import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Failure } from "../../../errors/index.ts";
import { openTenantFile } from "./tenant-file.ts";

const header = {
  ...{ format: "switchyard tenant", version: 1, schema: "0001_a.sql", software: "1.0.0", status: "active" },
  ...{ exported_at: "", tenant: { id: "0".repeat(26), slug: "a", name: "A" }, key_check: null },
};
const headerLine = gzipSync(`${JSON.stringify(header)}\n`);

/** Reads a file to its end. It is a sequence of gzip members, as a file may be. */
async function readAll(parts: Iterable<Buffer>): Promise<unknown> {
  const { rest } = await openTenantFile(Readable.from(parts));
  return Array.fromAsync(rest);
}

function refuses(parts: Iterable<Buffer>, reason: RegExp): Promise<void> {
  return assert.rejects(readAll(parts), (error) => error instanceof Failure && reason.test(error.message));
}

test("a line without an end is refused before it fills the memory", async () => {
  const part = gzipSync(Buffer.alloc(16 * 2 ** 20, "["), { level: 1 });
  let sent = 0;
  function* endless() {
    yield headerLine;
    for (; sent < 40; sent++) yield part;
  }
  await refuses(endless(), /The file is damaged/);
  assert.ok(sent < 40, `${sent} parts were read`);
});

test("an end without tables is refused", async () => {
  for (const end of ['{"end":{"tables":null}}', '{"end":null}', "null", '{"table":1,"columns":[]}'])
    await refuses([headerLine, gzipSync(`${end}\n`)], /a line that is no part of the format/);
});
