import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnectionLimit } from "./connection-limit.ts";

test("an address cannot exceed its connection limit, and closed connections free capacity", () => {
  const limit = createConnectionLimit({ max: 100, maxPerAddress: 2, proxyNetworks: [] });
  const release = limit.admit("203.0.113.7");
  assert.ok(typeof release === "function");
  assert.ok(typeof limit.admit("203.0.113.7") === "function");
  assert.equal(limit.admit("203.0.113.7"), "address");
  assert.equal(limit.admit("::ffff:203.0.113.7"), "address", "the same address as reported by a dual-stack socket");
  assert.ok(typeof limit.admit("203.0.113.8") === "function");
  release();
  assert.ok(typeof limit.admit("203.0.113.7") === "function");
  assert.equal(limit.admit("203.0.113.7"), "address");
});

test("a proxy's address is limited only by the total", () => {
  const proxyNetworks = ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1"];
  const limit = createConnectionLimit({ max: 6, maxPerAddress: 1, proxyNetworks });
  for (const address of ["10.1.2.3", "10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1", "2001:db8::1", "192.0.2.1"]) {
    assert.ok(typeof limit.admit(address) === "function", address);
  }
  assert.equal(limit.admit("10.1.2.3"), "total");
  assert.equal(limit.admit("203.0.113.7"), "total");
});
