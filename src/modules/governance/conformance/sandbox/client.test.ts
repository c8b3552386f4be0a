import assert from "node:assert/strict";
import { test } from "node:test";
import { createSandboxClient, type SendRequest } from "./client.ts";

type Response = Awaited<ReturnType<SendRequest>>;

const headers = { "content-type": "application/json", "retry-after": "0.001" };
const done: Response = { status: 200, headers, text: '{"id":"1"}' };

for (const [form, text] of [
  ["REST", '{"errorCode":"RATE_LIMITED"}'],
  ["SCIM", '{"status":"429"}'],
] as const) {
  test(`a request that a rate limit refuses in the form of ${form} is sent again`, async () => {
    const responses: Response[] = [{ status: 429, headers, text }, done];
    const client = createSandboxClient({
      ...{ host: "localhost", keys: { admin: "key" }, signal: AbortSignal.timeout(10_000) },
      send: async () => responses.shift()!,
    });
    assert.deepEqual(await client.data("GET", "/"), { id: "1" });
  });
}
