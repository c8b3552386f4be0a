import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { createClientAddressReader } from "./client-address.ts";

const proxyNetworks = ["10.0.0.0/8", "fd00::/8"];
const requestOf = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } }) as unknown as IncomingMessage;

test("the client is the nearest address that no proxy has", () => {
  const read = createClientAddressReader({ header: "x-forwarded-for", proxyNetworks });
  const cases: readonly (readonly [connection: string, header: string | undefined, client: string])[] = [
    ["::ffff:10.0.0.1", "203.0.113.7", "203.0.113.7"],
    ["10.0.0.1", "198.51.100.1, 203.0.113.7, 10.0.0.2", "203.0.113.7"],
    ["fd00::1", "[2001:db8::7]:4711", "2001:db8::7"],
    ["10.0.0.1", "203.0.113.7:4711", "203.0.113.7"],
    ["10.0.0.1", "10.0.0.9", "10.0.0.9"],
    ["10.0.0.1", "203.0.113.7, unknown", "10.0.0.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
  ];
  for (const [connection, header, client] of cases) assert.equal(read(requestOf(connection, header)), client, header);
});

test("a client that is no proxy cannot choose its address, and neither can anyone without the setting", () => {
  const read = createClientAddressReader({ header: "x-forwarded-for", proxyNetworks });
  assert.equal(read(requestOf("203.0.113.7", "198.51.100.1")), "203.0.113.7");
  const untrusting = createClientAddressReader({ header: "", proxyNetworks });
  assert.equal(untrusting(requestOf("10.0.0.1", "198.51.100.1")), "10.0.0.1");
});
