import assert from "node:assert/strict";
import { test } from "node:test";
import { isInDomains } from "./connection.ts";

test("an address is in a domain only if it has one @ and the domain is behind it", () => {
  for (const [email, isInside] of [
    ["joe@acme.example", true],
    ["Joe@ACME.example", true],
    ["joe@evil.example@acme.example", false],
    ['"joe@evil.example"@acme.example', false],
    ["joe@sub.acme.example", false],
    ["joe@evil.example", false],
    ["@acme.example", false],
    ["acme.example", false],
    ["", false],
  ] as const) {
    assert.equal(isInDomains(email, ["acme.example"]), isInside, email);
  }
  assert.ok(isInDomains("joe@anywhere.example", []));
});
