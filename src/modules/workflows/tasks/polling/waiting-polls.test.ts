import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { freshTenant } from "../../../../../test/harness/context.ts";
import { createMatcher } from "../domain/capabilities.ts";
import type { LeaseRef } from "../reports/report-store.ts";
import { leasedTask } from "../testing/task-fixture.ts";
import { createWaitingPolls } from "./waiting-polls.ts";

const tenantId = freshTenant();
const newTask = {
  ...{ tenantId, environmentId: "e", queue: "q", type: "t", versionRange: "" },
  attemptMs: 60_000,
  heartbeatMs: 5000,
  runId: "R",
};

function fixture({ slots = 1, isLeased = async () => true } = {}) {
  const returned: string[] = [];
  const returnedLater: string[] = [];
  const caller = new AbortController();
  const polls = createWaitingPolls({
    leases: {
      giveBack: async (leases: readonly LeaseRef[]) => void returned.push(...leases.map(({ token }) => token)),
      giveBackLater: ({ token }) => void returnedLater.push(token),
    },
    isLeased,
    onDispatched: () => {},
  });
  const open = polls.open({
    ...{ tenantId, environmentId: "e", inProduction: true, queue: "q", workerId: "w", slots, waitMs: 0 },
    matcher: createMatcher("b", [{ type: "t", versions: [] }]),
    stickyRuns: [],
    signal: caller.signal,
    recheckAccess: async () => {},
    onWaited: () => {},
  });
  const reserve = () => polls.reserve(newTask, 1000);
  const settle = (token: string, committed: boolean | undefined) =>
    polls.settle([{ token, committed, task: leasedTask(newTask, `id of ${token}`, token) }]);
  return { polls, open, reserve, settle, caller, returned, returnedLater };
}

const tokens = (tasks: readonly { token: string }[]) => tasks.map(({ token }) => token);

test("a reservation names the worker and its build, and how long the lease lasts", () => {
  const { reserve } = fixture();
  const { token, ...rest } = reserve()!;
  assert.match(token, /^R\.p/);
  assert.deepEqual(rest, { workerId: "w", buildId: "b", leaseUntilMs: 6000, attemptUntilMs: 61_000 });
});

test("a committed task is delivered; one that was not committed frees its slot", async () => {
  const { open, reserve, settle, returned } = fixture();
  const first = reserve()!;
  assert.equal(reserve(), undefined);
  settle(first.token, false);
  const second = reserve()!;
  settle(second.token, true);
  await open.delivered;
  assert.deepEqual(tokens(await open.close()), [second.token]);
  assert.deepEqual(returned, []);
  assert.equal(reserve(), undefined);
});

test("a poll that ends waits for commits in progress", async () => {
  const { open, reserve, settle } = fixture({ slots: 2 });
  const [first, second] = [reserve()!, reserve()!];
  const closing = open.close();
  assert.equal(reserve(), undefined);
  settle(first.token, true);
  settle(second.token, true);
  assert.deepEqual(tokens(await closing), [first.token, second.token]);
});

test("a task that is committed after its caller left is given back", async () => {
  const { open, reserve, settle, caller, returned } = fixture();
  const { token } = reserve()!;
  caller.abort();
  assert.deepEqual(await open.close(), []);
  settle(token, true);
  assert.deepEqual(returned, [token]);
});

test("a task whose commit takes too long is given back when it is committed", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { open, reserve, settle, returned } = fixture();
  const { token } = reserve()!;
  const closing = open.close();
  mock.timers.tick(60_000);
  mock.timers.reset();
  assert.deepEqual(await closing, []);
  settle(token, true);
  assert.deepEqual(returned, [token]);
});

test("a commit with an unknown outcome is looked up: a stored task is delivered", async () => {
  const { open, reserve, settle, returnedLater } = fixture();
  const { token } = reserve()!;
  settle(token, undefined);
  assert.deepEqual(tokens(await open.close()), [token]);
  assert.deepEqual(returnedLater, []);
});

test("a commit with an unknown outcome that is not stored frees the slot, and is given back if it is stored later", async () => {
  for (const isLeased of [async () => false, async () => Promise.reject(new Error("no connection"))]) {
    const { open, reserve, settle, returnedLater } = fixture({ isLeased });
    const { token } = reserve()!;
    settle(token, undefined);
    assert.deepEqual(await open.close(), []);
    assert.deepEqual(returnedLater, [token]);
  }
});

test("a settlement without a reservation is ignored, and so is a second one", async () => {
  const { open, reserve, settle, returned } = fixture();
  settle("unknown", true);
  const { token } = reserve()!;
  settle(token, true);
  settle(token, true);
  assert.equal((await open.close()).length, 1);
  assert.deepEqual(returned, []);
});

test("nothing is reserved after a stop", () => {
  const { polls, reserve } = fixture();
  polls.stop();
  assert.equal(reserve(), undefined);
});
