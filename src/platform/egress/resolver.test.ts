import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf } from "./address.ts";
import { systemResolver } from "./resolver.ts";

test("a name of this machine has its addresses, and one that cannot exist has none", async () => {
  const resolve = systemResolver();
  const found = await resolve("localhost");
  assert.ok(found.length > 0);
  for (const { address, family } of found) {
    assert.equal(kindOf(address), "loopback");
    assert.equal(family, address.includes(":") ? 6 : 4);
  }
  await assert.rejects(resolve("nobody.invalid"));
});
