import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../../../test/harness/until.ts";
import { instant, startTriggerFixture } from "../../../../../test/workflows/trigger-fixture.ts";
import { systemClock } from "../../../../platform/clock/clock.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { Effect } from "../domain/engine/advance-result.ts";
import { ownStartRecord } from "../index.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import { startChild } from "./child-run.ts";
import { EffectFailure } from "./effect-failure.ts";

const fixture = await startTriggerFixture();

test("a step starts one run of another definition, which carries the trigger on, and waits for its end", async () => {
  const { tenantId, production } = await fixture.tenant();
  await fixture.publish(tenantId, instant);
  const steps = [{ id: "child", subworkflow: { key: "instant", input: "=input" } }];
  await fixture.publish(tenantId, { dsl: "1", key: "parent", timeout: "1d", steps } as { key: string });
  const trigger = { id: ulid(Date.now()), depth: 3 };
  const request = {
    ...{ tenantId, id: ulid(Date.now()), environmentId: production, definition: "parent", version: undefined },
    ...{ input: { n: 1 }, runKey: "", origin: { by: "test", via: "event", trigger } as const },
    record: ownStartRecord(tenantId, "test", "1", Date.now()),
  };
  assert.deepEqual(await fixture.runs.startFor(request), { kind: "started", runId: request.id });
  await until(async () => (await fixture.runsOf(tenantId)).every(({ status }) => status === "succeeded"));
  const [parent, child] = (await fixture.runsOf(tenantId)).sort((a) => (a.id === request.id ? -1 : 1));
  assert.equal(parent!.id, request.id);
  assert.deepEqual(child!.state.input, { n: 1 });
  assert.deepEqual(child!.origin.trigger, trigger);
  assert.deepEqual(await fixture.runs.startFor(request), { kind: "known", runId: request.id });
  assert.equal((await fixture.runsOf(tenantId)).length, 2);
});

test("a start of the service itself is refused with a reason", async () => {
  const { tenantId, production } = await fixture.tenant();
  await fixture.publish(tenantId, instant);
  const start = (more: object) =>
    fixture.runs.startFor({
      ...{ tenantId, id: ulid(Date.now()), environmentId: production, definition: "instant", version: undefined },
      ...{ input: null, runKey: "", origin: { by: "test", via: "event" } as const },
      record: ownStartRecord(tenantId, "test", ulid(Date.now()), Date.now()),
      ...more,
    });
  const refusal = async (more: object) => {
    const outcome = await start(more);
    return outcome.kind === "refused" ? outcome.message : assert.fail(outcome.kind);
  };
  assert.match(await refusal({ definition: "unknown" }), /no published workflow definition "unknown"/);
  assert.match(await refusal({ version: 2 }), /no version 2/);
  assert.match(await refusal({ environmentId: ulid(Date.now()) }), /environment does not exist/);
  assert.match(await refusal({ input: "x".repeat(200_000) }), /exceeds 128 KiB/);
  assert.equal((await start({ input: 1 })).kind, "started");
});

test("a run below one that has ended starts no other run", async () => {
  const { tenantId, production } = await fixture.tenant();
  const childId = ulid(Date.now());
  const effect = { key: "child", attempt: 1, childId, request: { key: "instant" } } as unknown as Effect;
  const started: string[] = [];
  const parts = {
    db: fixture.db,
    clock: systemClock,
    takeQuota: async () => undefined,
    async start({ id }: { readonly id?: string }) {
      started.push(id!);
      return { kind: "refused", reason: "definition", message: "" } as never;
    },
  };
  const parentOf = (parentRunId: string) =>
    ({ tenantId, id: ulid(Date.now()), environmentId: production, parentRunId, origin: {} }) as unknown as LiveRun;
  assert.equal(await startChild(parts, parentOf(ulid(Date.now())), effect), undefined);
  assert.deepEqual(started, []);

  const steps = [{ id: "wait", wait_event: { event: "never", timeout: "1h" } }];
  await fixture.publish(tenantId, { dsl: "1", key: "waiting", timeout: "1d", steps } as { key: string });
  const rootId = ulid(Date.now());
  await fixture.runs.startFor({
    ...{ tenantId, id: rootId, environmentId: production, definition: "waiting", version: undefined, input: null },
    ...{ runKey: "", origin: { by: "test", via: "event" } as const },
    record: ownStartRecord(tenantId, "test", "2", Date.now()),
  });
  await assert.rejects(startChild(parts, parentOf(rootId), effect), EffectFailure);
  assert.deepEqual(started, [childId]);
});
