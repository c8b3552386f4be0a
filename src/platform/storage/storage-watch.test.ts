import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../test/harness/until.ts";
import type { TenantId } from "../access/index.ts";
import { createMetrics } from "../telemetry/index.ts";
import { createStorageWatch } from "./storage-watch.ts";
import { diskVolume } from "./volume.ts";

const gib = 2 ** 30;
const tenantId = "t1" as TenantId;

/** A watch of a disk of 100 GiB, and functions that fill it and measure it. */
function scratch(name: "data" | "objects" = "data") {
  let usedGib = 0;
  const lines: string[] = [];
  const line = (level: string) => (details: { volume: string; percent: number }) =>
    lines.push(`${level} ${details.volume} ${details.percent}`);
  const folder = async (path: string) => {
    if (path !== "/") throw Object.assign(new Error("no such folder"), { code: "ENOENT" });
    return { bsize: gib, blocks: 110, bfree: 110 - usedGib, bavail: 100 - usedGib };
  };
  const metrics = createMetrics();
  const watch = createStorageWatch({
    ...{ volumes: [diskVolume(name, "/not/there/yet", folder)], warnPercent: 80, fullPercent: 95, tenantBytesMax: 0 },
    ...{ metrics, estimateTenantBytes: async () => new Map() },
    log: { info: line("info"), warn: line("warn"), error: line("error") } as never,
  });
  return {
    ...{ watch, lines, metrics },
    refusal: (isObject = false) => watch.refusalOf({ tenantId, isObject })?.code,
    async fill(gibs: number) {
      usedGib = gibs;
      for (const task of watch.tasks) {
        await task.start();
        await task.stop();
      }
    },
  };
}

test("a disk is reported from 80 % on and refuses additions from 95 % on, and each change is logged once", async () => {
  const { watch, fill, lines, refusal, metrics } = scratch();
  await fill(79);
  assert.deepEqual([watch.describe(), refusal(), lines], [undefined, undefined, []]);
  await fill(80);
  await fill(81);
  assert.deepEqual([watch.describe(), refusal()], ["data is 81 % full (filling)", undefined]);
  await fill(95);
  await fill(96);
  assert.deepEqual([watch.describe(), refusal()], ["data is 96 % full (full)", "STORAGE_FULL"]);
  await fill(94);
  assert.equal(refusal(), "STORAGE_FULL", "on the edge, nothing changes");
  await fill(93);
  assert.equal(refusal(), undefined);
  await fill(10);
  assert.equal(watch.describe(), undefined);
  assert.deepEqual(lines, ["warn data 80", "error data 95", "warn data 93", "info data 10"]);
  const text = await metrics.render();
  assert.match(text, new RegExp(`^storage_used_bytes\\{volume="data"\\} ${10 * gib}$`, "m"));
  assert.match(text, new RegExp(`^storage_free_bytes\\{volume="data"\\} ${90 * gib}$`, "m"));
});

test("a full disk of large objects refuses objects only", async () => {
  const { fill, refusal } = scratch("objects");
  await fill(99);
  assert.deepEqual([refusal(true), refusal(false)], ["STORAGE_FULL", undefined]);
});

test("a disk that does not answer hides no other", async () => {
  const hanging = diskVolume("objects", "/", () => new Promise(() => {}));
  const full = diskVolume("data", "/", async () => ({ bsize: gib, blocks: 100, bfree: 1, bavail: 1 }));
  const { tasks, refusalOf } = createStorageWatch({
    ...{ volumes: [hanging, full], warnPercent: 80, fullPercent: 95, tenantBytesMax: 0, metrics: createMetrics() },
    ...{ estimateTenantBytes: async () => new Map(), log: { error() {} } as never },
  });
  for (const task of tasks) void task.start();
  await until(() => refusalOf({ tenantId, isObject: false })?.code === "STORAGE_FULL");
  await tasks[1]!.stop();
});

test("a tenant above its limit is refused, others are not, and the estimate may fail", async () => {
  const failures: unknown[] = [];
  let estimate = async () => new Map([[tenantId, 11]]);
  const options = { volumes: [], warnPercent: 80, fullPercent: 95, tenantBytesMax: 10, metrics: createMetrics() };
  const log = { info() {}, error() {}, warn: (details: unknown) => failures.push(details) } as never;
  const { tasks, refusalOf } = createStorageWatch({ ...options, log, estimateTenantBytes: () => estimate() });
  const [task] = tasks;
  const measure = async () => {
    await task!.start();
    await task!.stop();
  };
  await measure();
  const refusal = refusalOf({ tenantId, isObject: false });
  assert.deepEqual([refusal?.code, refusal?.extra], ["STORAGE_QUOTA_EXCEEDED", { bytes: 11, bytes_max: 10 }]);
  assert.equal(refusalOf({ tenantId: "t2" as TenantId, isObject: false }), undefined);
  estimate = () => Promise.reject(new Error("no statistics"));
  await measure();
  assert.equal(refusalOf({ tenantId, isObject: false })?.code, "STORAGE_QUOTA_EXCEEDED", "the last estimate counts");
  estimate = async () => new Map([[tenantId, 10]]);
  await measure();
  await until(() => refusalOf({ tenantId, isObject: false }) === undefined);
  assert.equal(failures.length, 2);
});
