import assert from "node:assert/strict";
import { test } from "node:test";
import type { Readiness } from "../../gateway/health.ts";
import { mergeReadiness } from "./merged-readiness.ts";

const ready: Readiness = { status: "ready", booted: true, components: { database: { status: "ok" } } };
const away: Readiness = {
  ...{ status: "not_ready", booted: true },
  components: { database: { status: "unhealthy", detail: "cannot be reached" } },
};

test("a machine is ready while one of its processes is, and shows the worst state of each component", () => {
  assert.deepEqual(mergeReadiness([ready, ready]), {
    ...{ status: "ready", booted: true },
    components: { database: { status: "ok" }, processes: { status: "ok" } },
  });
  const mixed = mergeReadiness([ready, away]);
  assert.equal(mixed.status, "degraded");
  assert.deepEqual(mixed.components.database, away.components.database);
  assert.deepEqual(mixed.components.processes, { status: "degraded", detail: "1 of 2 processes are ready" });
});

test("a machine none of whose processes is ready is not ready", () => {
  assert.equal(mergeReadiness([away, undefined]).status, "not_ready");
  assert.deepEqual(mergeReadiness([undefined, undefined]), {
    ...{ status: "not_ready", booted: false },
    components: { processes: { status: "unhealthy", detail: "0 of 2 processes are ready" } },
  });
});
