import assert from "node:assert/strict";
import test from "node:test";
import { cli } from "./cli-run.ts";
import { startStub } from "./stub-service.ts";

const stub = await startStub();
const words = ["--address", stub.address, "promotion", "timeline", "c1"];
const entries = [
  {
    ...{ at: "2027-01-01T00:00:00.123Z", call: "create", state: "created", actor: "key:k1" },
    summary: "Created for routing orders version 2.",
  },
  {
    ...{ at: "2027-01-01T00:01:00Z", call: "preflight", state: "preflight_blocked", actor: "user:ada" },
    summary: "Blocked: \u001b[31mversion_missing.",
  },
];

test("a terminal shows the timeline; a pipe gets the response", async () => {
  stub.answers({ json: { data: entries, metadata: { next_page_token: "" } } });
  const plain = await cli(words, { terminal: true, columns: 100, env: { NO_COLOR: "1" } });
  assert.equal(
    plain.out,
    `● 2027-01-01 00:00:00  create, now created
│ Created for routing orders version 2.
│ by key:k1
● 2027-01-01 00:01:00  preflight, now preflight blocked
  Blocked: \\u001b[31mversion_missing.
  by user:ada
`,
  );
  const coloured = await cli(words, { terminal: true, columns: 100 });
  assert.match(coloured.out, /\u001b\[31m●/);
  assert.deepEqual(JSON.parse((await cli(words)).out).data, entries);
});
