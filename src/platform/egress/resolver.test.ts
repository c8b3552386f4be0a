import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf } from "./address.ts";
import { createSystemResolver } from "./resolver.ts";

test("a local name resolves to its addresses, and a name that cannot exist does not resolve", async () => {
  const resolve = createSystemResolver();
  const found = await resolve("localhost");
  assert.ok(found.length > 0);
  for (const { address, family } of found) {
    assert.equal(kindOf(address), "loopback");
    assert.equal(family, address.includes(":") ? 6 : 4);
  }
  await assert.rejects(resolve("nobody.invalid"), { code: /^(ENOTFOUND|EAI_AGAIN)$/ });
});
