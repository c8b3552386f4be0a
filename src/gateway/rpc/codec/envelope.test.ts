import assert from "node:assert/strict";
import { test } from "node:test";
import { type Envelope, readEnvelopes, readOnlyEnvelope, writeEnvelope } from "./envelope.ts";

const bytes = Buffer.concat([writeEnvelope(0, "é"), writeEnvelope(1, ""), writeEnvelope(0, Buffer.from("abc"))]);

async function read(chunkBytes: number, bytesMax = 100, body = bytes): Promise<Envelope[]> {
  async function* chunks() {
    for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
  }
  return Array.fromAsync(readEnvelopes(chunks(), bytesMax));
}

test("envelopes are the same for every chunk size of the body", async () => {
  for (let size = 1; size <= bytes.length; size++) {
    const envelopes = await read(size);
    assert.deepEqual(
      envelopes.map(({ flags, data }) => [flags, data.toString()]),
      [
        [0, "é"],
        [1, ""],
        [0, "abc"],
      ],
    );
  }
});

test("an envelope with a length over the limit is refused before its data arrives", async () => {
  await assert.rejects(read(5, 10, Buffer.from([0, 0xff, 0xff, 0xff, 0xff])), { code: "PAYLOAD_TOO_LARGE" });
});

test("a body that ends inside an envelope is refused", async () => {
  await assert.rejects(read(4, 100, bytes.subarray(0, -1)), { code: "INVALID_ARGUMENT" });
  assert.throws(() => readOnlyEnvelope(bytes), { code: "INVALID_ARGUMENT" });
});
