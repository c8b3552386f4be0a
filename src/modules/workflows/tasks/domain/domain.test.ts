import assert from "node:assert/strict";
import { test } from "node:test";
import { createMatcher, isVersion } from "./capabilities.ts";
import { parseToken, tokenSuffix } from "./lease-token.ts";
import { queueWaitReason, shownState, waitReason } from "./wait-reason.ts";

const kind = (type: string, versionRange = "", refusedBy: string[] = []) => ({ type, versionRange, refusedBy });

test("a worker can run a task if a listed version is in its range and its build has not refused it", () => {
  const { canRun } = createMatcher("b1", [
    { type: "any", versions: [] },
    { type: "some", versions: ["1.4.0", "2.1.0"] },
    { type: "some", versions: ["5.0.0"] },
    { type: "pre", versions: ["2.0.0-rc.1"] },
  ]);
  const cases: [ReturnType<typeof kind>, boolean][] = [
    [kind("any"), true],
    [kind("any", ">=2 <3"), true],
    [kind("any", "not a range"), true],
    [kind("some"), true],
    [kind("some", ">=2 <3"), true],
    [kind("some", "^1.4.0"), true],
    [kind("some", "^1.5.0"), false],
    [kind("some", ">=5"), true],
    [kind("some", "1.x || >=4 <5"), true],
    [kind("some", "not a range"), false],
    [kind("pre"), true],
    [kind("pre", "^2.0.0"), false],
    [kind("pre", ">=2.0.0-rc.0"), true],
    [kind("unknown"), false],
    [kind("any", "", ["b0", "b1"]), false],
    [kind("any", "", ["b0", "b2"]), true],
  ];
  for (const [task, expected] of [...cases, ...cases]) assert.equal(canRun(task), expected, JSON.stringify(task));
});

test("versions have three numbers", () => {
  for (const text of ["2.1.0", "0.0.1-beta.2+x"]) assert.ok(isVersion(text), text);
  for (const text of ["", "2", "2.1", "latest", ">=2.0.0"]) assert.ok(!isVersion(text), text);
});

test("a token tells its run and whether it is of production", () => {
  const runId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  assert.deepEqual(parseToken(runId + tokenSuffix(true, "abcdefgh-_123456")), { runId, inProduction: true });
  assert.deepEqual(parseToken(tokenSuffix(false, "abcdefgh-_123456")), { runId: "", inProduction: false });
  for (const text of ["", "x", `${runId}.qabcdefgh`, `${runId}abcdefgh`]) assert.equal(parseToken(text), undefined);
});

test("the workers of a queue decide what is incompatible; without workers the stored state is shown", () => {
  const able = createMatcher("b1", [{ type: "t", versions: [] }]);
  const unable = createMatcher("b1", [{ type: "u", versions: [] }]);
  const states = ["ready", "incompatible", "leased", "held"] as const;
  const shown = (workers: (typeof able)[]) => states.map((state) => shownState({ ...kind("t"), state }, workers));
  assert.deepEqual(shown([]), [...states]);
  assert.deepEqual(shown([unable]), ["incompatible", "incompatible", "leased", "held"]);
  assert.deepEqual(shown([unable, able]), ["ready", "ready", "leased", "held"]);
});

test("a waiting task has a reason", () => {
  const able = createMatcher("b1", [{ type: "t", versions: [] }]);
  const unable = createMatcher("b1", [{ type: "u", versions: [] }]);
  const task = { ...kind("t"), state: "ready" as const, isDue: true };
  assert.equal(waitReason(task, [], false), "no_worker");
  assert.equal(waitReason(task, [], true), "workers_busy");
  assert.equal(waitReason(task, [unable], true), "no_capable_worker");
  assert.equal(waitReason(task, [unable, able], false), "workers_busy");
  assert.equal(waitReason({ ...task, isDue: false }, [], false), "retry_delay");
  assert.equal(waitReason({ ...task, state: "leased" }, [], false), undefined);
  assert.equal(queueWaitReason([], [able], true), undefined);
  assert.equal(queueWaitReason([{ ...task, isDue: false }], [able], true), undefined);
  assert.equal(queueWaitReason([{ ...task, type: "x" }, task], [able], false), "workers_busy");
  assert.equal(queueWaitReason([{ ...task, type: "x" }], [able], false), "no_capable_worker");
});
