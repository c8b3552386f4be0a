import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeleteWorkflowTriggerRequestSchema,
  FireWorkflowTriggerRequestSchema,
  type FireWorkflowTriggerResponse,
  GetWorkflowTriggerRequestSchema,
  ListWorkflowTriggersRequestSchema,
  type ListWorkflowTriggersResponse,
  PreviewWorkflowTriggerRequestSchema,
  type PreviewWorkflowTriggerResponse,
} from "../../../../gen/service/api/workflow_trigger_pb.ts";
import { type ContextChoice, failsWith } from "../../../../test/harness/context.ts";
import { instant, startTriggerFixture, value, waiting } from "../../../../test/workflows/trigger-fixture.ts";
import type { Handler, OwnCommitHandler } from "../../../chain/call.ts";

const fixture = await startTriggerFixture();
const { handlers } = fixture;
const daily = { cron: "0 9 * * *" };

const list = async (
  choice: ContextChoice,
  request: MessageInitShape<typeof ListWorkflowTriggersRequestSchema> = {},
) => {
  const handler = handlers.listWorkflowTriggers as Handler;
  const page = await fixture.call<typeof ListWorkflowTriggersRequestSchema, ListWorkflowTriggersResponse>(
    choice,
    handler,
    ListWorkflowTriggersRequestSchema,
    request,
  );
  return page.triggers.map(({ name }) => name);
};

const fire = (choice: ContextChoice, request: MessageInitShape<typeof FireWorkflowTriggerRequestSchema>) =>
  fixture.call<typeof FireWorkflowTriggerRequestSchema, FireWorkflowTriggerResponse>(
    choice,
    handlers.fireWorkflowTrigger as OwnCommitHandler,
    FireWorkflowTriggerRequestSchema,
    request,
  );

const preview = (request: MessageInitShape<typeof PreviewWorkflowTriggerRequestSchema>) =>
  fixture.call<typeof PreviewWorkflowTriggerRequestSchema, PreviewWorkflowTriggerResponse>(
    {},
    handlers.previewWorkflowTrigger as Handler,
    PreviewWorkflowTriggerRequestSchema,
    request,
  );

test("a trigger can be created, read, listed, changed and deleted, and each change is an event", async () => {
  const { tenantId, production, sandbox } = await fixture.tenant();
  const created = await fixture.create(tenantId, { name: "nightly", schedule: daily, input: value({ a: 1 }) });
  assert.equal(created.environmentId, production);
  assert.deepEqual(
    { ...created.schedule, $typeName: "", $unknown: undefined },
    {
      $typeName: "",
      $unknown: undefined,
      cron: "0 9 * * *",
      timezone: "UTC",
      overlap: "skip",
      jitterS: 0,
      catchUpS: 60,
    },
  );
  await fixture.create(tenantId, { name: "paid", environmentId: sandbox, event: { types: ["order.*"] } });
  assert.deepEqual(await list({ tenantId }), ["nightly", "paid"]);
  assert.deepEqual(await list({ tenantId }, { environmentId: sandbox }), ["paid"]);
  assert.deepEqual(await list({ tenantId }, { definition: "other" }), []);
  const updated = await fixture.update(tenantId, {
    triggerId: created.id,
    name: "weekly",
    schedule: { cron: "0 9 * * 1", timezone: "Europe/Berlin" },
    recordVersion: created.recordVersion,
  });
  assert.equal(updated.name, "weekly");
  assert.equal(updated.schedule!.timezone, "Europe/Berlin");
  assert.equal(timestampDate(updated.nextAt!).getUTCDay(), 1);
  await assert.rejects(
    fixture.update(tenantId, { triggerId: created.id, name: "x", recordVersion: created.recordVersion }),
    failsWith("VERSION_CONFLICT"),
  );
  const triggerId = created.id;
  const remove = handlers.deleteWorkflowTrigger as Handler;
  await fixture.call({ tenantId }, remove, DeleteWorkflowTriggerRequestSchema, { triggerId });
  const get = handlers.getWorkflowTrigger as Handler;
  await assert.rejects(
    fixture.call({ tenantId }, get, GetWorkflowTriggerRequestSchema, { triggerId }),
    failsWith("NOT_FOUND"),
  );
  for (const type of ["created", "updated", "deleted"]) {
    const [event] = await fixture.eventsOf(tenantId, `workflow.trigger.${type}`);
    assert.equal(event!.subject, triggerId);
    assert.equal(event!.environmentId, production);
  }
});

test("names are unique in an environment, not across environments", async () => {
  const { tenantId, sandbox } = await fixture.tenant();
  await fixture.create(tenantId, { name: "one", schedule: daily });
  await fixture.create(tenantId, { name: "one", environmentId: sandbox, schedule: daily });
  await assert.rejects(fixture.create(tenantId, { name: "one", schedule: daily }), failsWith("ALREADY_EXISTS"));
  const { id } = await fixture.create(tenantId, { name: "two", schedule: daily });
  await assert.rejects(fixture.update(tenantId, { triggerId: id, name: "one" }), failsWith("ALREADY_EXISTS"));
});

test("invalid triggers are refused with the field and the reason", async () => {
  const { tenantId } = await fixture.tenant();
  const refuses = (request: Parameters<typeof fixture.create>[1], text: RegExp) =>
    assert.rejects(fixture.create(tenantId, request), failsWith("INVALID_ARGUMENT", text));
  await refuses({}, /^schedule: is required, or event/);
  await refuses({ schedule: daily, event: { types: ["a.b"] } }, /^event: must be absent/);
  await refuses({ schedule: { cron: "nonsense" } }, /^schedule\.cron: must have five fields/);
  await refuses({ schedule: { ...daily, timezone: "Nowhere" } }, /^schedule\.timezone: must be an IANA/);
  const [early, late] = [new Date(0), new Date(1)].map(timestampFromDate);
  await refuses({ schedule: { ...daily, startAt: late!, endAt: early! } }, /^schedule\.end_at: must not be before/);
  await refuses({ schedule: daily, input: value({ a: ["=event.id"] }) }, /^input: /);
  await refuses({ schedule: daily, runKey: "=1 +" }, /^run_key: /);
  await refuses({ event: { types: ["a.b"], condition: "event.id +" } }, /^event\.condition: /);
  await refuses({ event: { types: ["a.b"], condition: "1" } }, /^event\.condition: /);
  const { id: triggerId } = await fixture.create(tenantId, { schedule: daily });
  await assert.rejects(
    fixture.update(tenantId, { triggerId, event: { types: ["a.b"] } }),
    failsWith("INVALID_ARGUMENT", /^event: must be absent: the trigger has a schedule/),
  );
});

test("callers use triggers only in environments that they have access to", async () => {
  const { tenantId, sandbox } = await fixture.tenant();
  const { id: triggerId } = await fixture.create(tenantId, { name: "p", schedule: daily });
  await fixture.create(tenantId, { name: "s", environmentId: sandbox, schedule: daily });
  const caller = { tenantId, environmentMode: "non_production_only" } as const;
  assert.deepEqual(await list(caller), ["s"]);
  const get = handlers.getWorkflowTrigger as Handler;
  const refused = failsWith("PERMISSION_DENIED");
  await assert.rejects(fixture.call(caller, get, GetWorkflowTriggerRequestSchema, { triggerId }), refused);
  await assert.rejects(fire(caller, { triggerId }), refused);
  await assert.rejects(fixture.create(tenantId, { schedule: daily }, caller), refused);
});

test("a tenant has at most 1,000 triggers", async () => {
  const { tenantId } = await fixture.tenant();
  const { id } = await fixture.create(tenantId, { schedule: daily });
  await fixture.db.sql`
    insert into workflow_triggers (tenant_id, id, environment_id, environment_key, name, definition, version, kind, spec,
      event_types, input, run_key, enabled, disabled_reason, shard, created_at, updated_at)
    select tenant_id, '01J' || lpad(n::text, 23, '0'), environment_id, environment_key, 'copy ' || n, definition, version,
      kind, spec, event_types, input, run_key, false, 'manual', shard, created_at, updated_at
    from workflow_triggers, generate_series(1, 999) n where id = ${id}`;
  await assert.rejects(
    fixture.create(tenantId, { schedule: daily }),
    failsWith("FAILED_PRECONDITION", /at most 1000 workflow triggers/),
  );
});

test("a trigger can be fired by hand, even if it is disabled", async () => {
  const { tenantId } = await fixture.tenant();
  await fixture.publish(tenantId, instant);
  const input = value({ at: "=schedule.time" });
  const { id: triggerId } = await fixture.create(tenantId, { schedule: daily, input, enabled: false });
  const { runId, started } = await fire({ tenantId, subject: "key:ann" }, { triggerId });
  assert.ok(started);
  const [run] = await fixture.runsOf(tenantId);
  assert.equal(run!.id, runId);
  assert.equal(run!.origin.by, "key:ann");
  assert.equal(run!.origin.via, "api");
  assert.match((run!.state.input as { at: string }).at, /^\d{4}-/);
  assert.equal((await fixture.get(tenantId, triggerId)).lastRunId, runId);
});

test("an event trigger is fired with a made-up event", async () => {
  const { tenantId } = await fixture.tenant();
  await fixture.publish(tenantId, waiting);
  const { id: triggerId } = await fixture.create(tenantId, {
    definition: "waiting",
    event: { types: ["order.paid"], condition: "false" },
    input: value("=event.data.n"),
    runKey: "=event.subject",
  });
  await assert.rejects(fire({ tenantId }, { triggerId }), failsWith("INVALID_ARGUMENT", /^event: is required/));
  const event = { type: "order.paid", subject: "a", data: { n: 3 } };
  const first = await fire({ tenantId }, { triggerId, event });
  assert.deepEqual(await fire({ tenantId }, { triggerId, event }), { ...first, started: false });
  assert.equal((await fixture.runsOf(tenantId))[0]!.state.input, 3);
  await assert.rejects(
    fire({ tenantId }, { triggerId, event: { type: "order.paid" } }),
    failsWith("INVALID_ARGUMENT", /^event: does not fit the templates/),
  );
});

test("a run that was fired by hand counts for the overlap policy", async () => {
  const { tenantId } = await fixture.tenant();
  await fixture.publish(tenantId, waiting);
  const { id: triggerId, nextAt } = await fixture.create(tenantId, { definition: "waiting", schedule: daily });
  await fire({ tenantId }, { triggerId });
  const node = await fixture.manualNode();
  fixture.advance(timestampDate(nextAt!).getTime() - fixture.clock.now() + 1);
  await node.schedules.sweep();
  assert.equal((await fixture.runsOf(tenantId)).length, 1);
  assert.ok((await fixture.get(tenantId, triggerId)).lastSkippedAt !== undefined);
});

test("a preview of a schedule shows its next ten times and the input of the first", async () => {
  const shown = await preview({
    schedule: { cron: "30 2 * * *", timezone: "Europe/Berlin" },
    input: value({ at: "=schedule.time" }),
    after: timestampFromDate(new Date("2026-03-28T12:00:00Z")),
  });
  assert.equal(shown.times.length, 10);
  const firstTimes = shown.times.slice(0, 2).map((at) => timestampDate(at).toISOString());
  assert.deepEqual(firstTimes, ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]);
  assert.ok(shown.starts);
  assert.deepEqual(shown.input, value({ at: "2026-03-29T01:00:00.000Z" }));
  const ended = await preview({ schedule: { ...daily, endAt: timestampFromDate(new Date(0)) } });
  assert.deepEqual([ended.starts, ended.reason], [false, "The schedule has no further times."]);
});

test("a preview of an event trigger says whether a sample would start a run, and with which input", async () => {
  const trigger = {
    event: { types: ["order.*"], condition: "event.data.n > 1" },
    input: value({ n: "=event.data.n" }),
    runKey: "=event.subject",
  };
  const sample = { type: "order.paid", subject: "o1", data: { n: 2 } };
  const shown = await preview({ ...trigger, sample });
  assert.deepEqual([shown.starts, shown.reason, shown.input, shown.runKey], [true, "", value({ n: 2 }), "o1"]);
  const reasonFor = async (more: object) => (await preview({ ...trigger, sample: { ...sample, ...more } })).reason;
  assert.match(await reasonFor({ type: "invoice.sent" }), /not one of the trigger's/);
  assert.match(await reasonFor({ data: { n: 0 } }), /condition is false/);
  assert.match(await reasonFor({ data: {} }), /n/);
  await assert.rejects(preview(trigger), failsWith("INVALID_ARGUMENT", /^sample: is required/));
});
