import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { encodeOnce, guardStream, shareMessage } from "./stream.ts";

test("a stream whose caller lost its access before the first message is not checked any more, and ends with the refusal", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let checks = 0;
  const stream = guardStream((async function* () {})(), async () => {
    checks++;
    throw new Error("revoked");
  });
  for (let second = 0; second < 5; second++) {
    t.mock.timers.tick(1000);
    await settled();
  }
  assert.equal(checks, 1);
  await assert.rejects(stream.next(), /revoked/);
});

test("a shared message is encoded once for all streams, and every other message each time", () => {
  let encoded = 0;
  const encode = encodeOnce(() => ++encoded);
  const [shared, own] = [create(EmptySchema), create(EmptySchema)];
  shareMessage(shared);
  for (let subscriber = 0; subscriber < 1000; subscriber++) assert.equal(encode(shared), 1);
  assert.deepEqual([encode(own), encode(own)], [2, 3]);
});
