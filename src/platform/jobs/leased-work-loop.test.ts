import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { until } from "../../../test/harness/until.ts";
import { createLeasedWorkLoop, type LeaseRequest } from "./leased-work-loop.ts";

interface Item {
  readonly tenantId: string;
  readonly n: number;
}

/** A loop over queues in memory, whose items end when the test ends them. */
function loopOver(queues: Record<string, number>, options: { graceMs?: number; pollMs?: number } = {}) {
  const requests: LeaseRequest[] = [];
  const running: { item: Item; signal: AbortSignal; end: (error?: Error) => void }[] = [];
  const errors: unknown[] = [];
  let wake = () => {};
  const loop = createLeasedWorkLoop<Item>({
    subscribe({ run }) {
      wake = run;
      return [
        () => {
          wake = () => {};
        },
      ];
    },
    ...{ concurrency: 8, pollMs: 60_000, ...options },
    async lease(request) {
      requests.push(request);
      const items: Item[] = [];
      for (const tenantId of Object.keys(queues).sort()) {
        if (tenantId <= request.afterTenant || request.busyTenants.includes(tenantId)) continue;
        for (let i = 0; i < request.each && queues[tenantId]! > 0 && items.length < request.limit; i++)
          items.push({ tenantId, n: queues[tenantId]!-- });
      }
      return { items, scannedTo: "" };
    },
    onLeaseError: (error) => errors.push(error),
    handle: () => (item, signal) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => {
          running.splice(running.indexOf(started), 1);
          if (error === undefined) resolve();
          else reject(error);
        };
        const started = { item, signal, end };
        running.push(started);
        signal.addEventListener("abort", () => end());
      }),
    onItemError: (error) => errors.push(error),
  });
  const runningOf = (tenantId: string) => running.filter(({ item }) => item.tenantId === tenantId).length;
  return { loop, requests, running, runningOf, errors, wake: () => wake() };
}

test("no more is leased than can be handled, and a tenant with half of it gets no more", async (t) => {
  const { loop, requests, running, runningOf } = loopOver({ a: 100, b: 1 });
  t.after(() => loop.stop());
  loop.start();
  await until(() => running.length === 5);
  assert.deepEqual([runningOf("a"), runningOf("b")], [4, 1]);
  for (const { item, end } of [...running]) if (item.tenantId === "b") end();
  await until(() => requests.at(-1)!.limit === 4);
  assert.deepEqual(requests.at(-1)!.busyTenants, ["a"]);
  assert.equal(runningOf("a"), 4);
});

test("the end of an item leases the next one, even if it failed", async (t) => {
  const { loop, running, errors } = loopOver({ a: 5 });
  t.after(() => loop.stop());
  loop.start();
  await until(() => running.length === 4);
  running[0]!.end(new Error("as told"));
  await until(() => running.some(({ item }) => item.n === 1));
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ["as told"],
  );
});

test("nothing is leased while the only tenant with ended items is still busy", async (t) => {
  const { loop, requests, running } = loopOver({ a: 100 });
  t.after(() => loop.stop());
  loop.start();
  await until(() => running.length === 4);
  running[0]!.end();
  await until(() => running.length === 5);
  const leases = requests.length;
  running[0]!.end();
  await setImmediate();
  assert.deepEqual([running.length, requests.length], [4, leases]);
  running[0]!.end();
  await until(() => running.length === 5);
  assert.equal(requests.length, leases + 1);
});

test("new items are leased after a signal, and without one after the poll interval", async (t) => {
  const signalled = { a: 0 };
  const polled = { a: 0 };
  const first = loopOver(signalled);
  const second = loopOver(polled, { pollMs: 5 });
  t.after(() => Promise.all([first.loop.stop(), second.loop.stop()]));
  for (const { loop, requests } of [first, second]) {
    loop.start();
    await until(() => requests.length > 0);
  }
  signalled.a = polled.a = 1;
  first.wake();
  await until(() => first.running.length === 1 && second.running.length === 1);
});

test("a stop lets items go on for the grace period, then aborts them, and leases no more", async () => {
  const patient = loopOver({ a: 1 }, { graceMs: 60_000 });
  const hasty = loopOver({ a: 1 });
  for (const { loop, running } of [patient, hasty]) {
    loop.start();
    await until(() => running.length === 1);
  }
  const stopped = patient.loop.stop();
  assert.equal(patient.running[0]!.signal.aborted, false);
  patient.running[0]!.end();
  await stopped;
  const { signal } = hasty.running[0]!;
  await hasty.loop.stop();
  assert.equal(signal.aborted, true);
  const leases = hasty.requests.length;
  hasty.loop.run();
  assert.equal(hasty.requests.length, leases);
});
