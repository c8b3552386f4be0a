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

test("a table of the history of a run has a row for each entry: its time, its type, its step and its details", async () => {
  const advances = [
    {
      ...{ revision: 1, at: "2027-01-01T00:00:00.123Z" },
      entries: [{ kind: "run_started" }, { kind: "step_started", step: "check" }],
    },
    {
      ...{ revision: 2, at: "2027-01-01T00:00:01.5Z" },
      entries: [{ kind: "step_failed", step: "check", error: { code: "timeout" }, attempt: 2, note: "\u001b[31m" }],
    },
  ];
  stub.answers({ json: { data: advances, total: 9, has_more: true, next_cursor: "c2" } });
  const history = ["--address", stub.address, "workflow-run", "history", "r1"];
  const shown = await cli([...history, "--table"]);
  assert.equal(
    shown.out,
    `TIME                      TYPE          STEP   DETAIL
2027-01-01T00:00:00.123Z  run_started
2027-01-01T00:00:00.123Z  step_started  check
2027-01-01T00:00:01.5Z    step_failed   check  error={"code":"timeout"} attempt=2 note=\\u001b[31m
`,
  );
  assert.equal(shown.err, "2 of 9\nNext page: --cursor c2\n", "the table has a next page");
  const narrow = await cli(history, { terminal: true, columns: 70 });
  assert.match(narrow.out, /step_failed {3}check {2}error=\{"code/);
  for (const line of narrow.out.split("\n")) assert.ok(line.length <= 70, line);
  assert.deepEqual(JSON.parse((await cli(history)).out).data, advances);
});
