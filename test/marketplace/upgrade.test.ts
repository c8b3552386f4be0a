import assert from "node:assert/strict";
import { before, test } from "node:test";
import {
  dumpTenant,
  install,
  type Json,
  type Market,
  type Publisher,
  publish,
  startMarket,
  type Tenant,
} from "./market-fixture.ts";
import { notificationPack, type PackChoice, rulesPack, workflowDocument, workflowPack } from "./sample-packs.ts";

let market: Market;
before(async () => {
  market = await startMarket();
});

const installations = "/api/v2/marketplace/installations";

interface Sample {
  readonly tenant: Tenant;
  readonly publisher: Publisher;
  readonly id: string;
  readonly installation: Json;
}

/** A tenant that has installed the first of two versions of a pack. */
async function installed(makePacks: (publisher: Publisher) => readonly [object, object]): Promise<Sample> {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  const [first, second] = makePacks(publisher);
  await publish(tenant, publisher, first, second);
  const { kind } = first as { kind: string };
  const installation = await install(tenant, `${publisher.name}/sample-${kind}`, {}, "1.0.0");
  return { tenant, publisher, id: installation.id, installation };
}

const upgrade = ({ tenant, id }: Sample, request: object = {}): Promise<Json> =>
  tenant.ok("POST", `${installations}/${id}/upgrade`, request);
const rollBack = ({ tenant, id }: Sample, request: object = {}): Promise<Json> =>
  tenant.ok("POST", `${installations}/${id}/rollback`, request);
const recordId = ({ records }: Json, key: string): string => records.find((each: Json) => each.key === key).record_id;
const actions = ({ changes }: Json) => changes.map(({ key, action }: Json) => `${key} ${action}`);

const newer = { version: "1.1.0" };
const trigger = (key: string, fields: object) => ({
  record: "workflow_trigger",
  key,
  content: { name: `Sample ${key}`, definition: "sample.flow", environment_id: "[[slot.environment]]", ...fields },
});
const yearly = (cron: string) => trigger("yearly", { schedule: { cron } });
const onOrder = trigger("order", {
  definition: "[[record.main]]",
  event: { types: ["order.paid"], condition: "event.data.total > 10" },
  input: { order: "=event.data.id" },
});
const triggerPack = (publisher: Publisher, triggers: readonly object[], choice: PackChoice = {}) =>
  workflowPack(publisher, "one", {
    permissions: { effects: ["workflow:event", "workflow:schedule"] },
    slots: [{ name: "environment", kind: "environment", title: "Environment", default: "production" }],
    ...choice,
    contents: [
      { record: "workflow_definition", key: "main", content: workflowDocument("sample.flow", "one") },
      ...triggers,
    ],
  });
const samples: Record<string, (publisher: Publisher) => readonly [object, object]> = {
  "a workflow": (publisher) => [
    workflowPack(publisher, "one"),
    workflowPack(publisher, "two", {
      ...newer,
      contents: [
        { record: "workflow_definition", key: "main", content: workflowDocument("sample.flow", "two") },
        { record: "workflow_definition", key: "extra", content: workflowDocument("sample.extra", "x") },
      ],
    }),
  ],
  "a workflow with triggers": (publisher) => [
    triggerPack(publisher, [yearly("0 0 1 1 *")]),
    triggerPack(publisher, [yearly("0 0 2 1 *"), onOrder], newer),
  ],
  "a removed trigger": (publisher) => [
    triggerPack(publisher, [yearly("0 0 1 1 *"), onOrder]),
    triggerPack(publisher, [yearly("0 0 1 1 *")], newer),
  ],
  notifications: (publisher) => [
    notificationPack(publisher, "one"),
    notificationPack(publisher, "two", {
      ...newer,
      contents: [
        {
          record: "layout",
          key: "other",
          content: { name: "Other frame", channel: "email", body: "<i>[[slot.company]]</i>{{{content}}}" },
        },
        {
          record: "notification_workflow",
          key: "message",
          content: {
            workflow_key: "sample.message",
            channels: { email: { subject: "two", body: "x", layout_id: "[[record.other]]" } },
          },
        },
      ],
    }),
  ],
  "a removed notification": (publisher) => [
    notificationPack(publisher, "one"),
    notificationPack(publisher, "two", {
      ...newer,
      contents: [{ record: "layout", key: "frame", content: { name: "F", channel: "email", body: "{{{content}}}" } }],
    }),
  ],
  rules: (publisher) => [
    rulesPack(publisher, 10),
    rulesPack(publisher, 20, {
      ...newer,
      contents: [
        {
          record: "pool",
          key: "pool",
          content: { environment_id: "[[slot.environment]]", name: "Sample pool", strategy: "round_robin" },
        },
        {
          record: "pool",
          key: "another",
          content: { environment_id: "[[slot.environment]]", name: "Another pool" },
        },
        {
          record: "rule",
          key: "first",
          content: { pool_id: "[[record.pool]]", name: "First", priority: 20, action: { type: "hold", hold_s: 9 } },
        },
        {
          record: "rule",
          key: "third",
          content: { pool_id: "[[record.another]]", name: "Third", action: { type: "hold", hold_s: 1 } },
        },
      ],
    }),
  ],
};

for (const [name, makePacks] of Object.entries(samples)) {
  test(`an upgrade of ${name} that is rolled back leaves every row of the tenant as it was`, async () => {
    const sample = await installed(makePacks);
    const { tenant } = sample;
    if (name.includes("notification")) {
      await tenant.ok("PUT", "/api/v2/notification/workflows/sample.message/users/u1", {
        preferences: { channels: { email: { enabled: false } } },
      });
    }
    const before = await dumpTenant(market.db, tenant.id);
    const { plan } = await upgrade(sample);
    assert.notDeepEqual(await dumpTenant(market.db, tenant.id), before);
    assert.ok(plan.changes.some(({ action }: Json) => action !== "unchanged"));
    const restored = await rollBack(sample);
    assert.equal(restored.version, "1.0.0");
    assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
    const operations = restored.changes.map(({ operation }: Json) => operation);
    assert.deepEqual(operations, ["rollback", "upgrade", "install"]);
    // The same upgrade works again, and so does its rollback.
    await upgrade(sample);
    await rollBack(sample);
    assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
  });
}

test("upgrades are rolled back one after another", async () => {
  const sample = await installed((publisher) => [
    workflowPack(publisher, "one"),
    workflowPack(publisher, "two", newer),
  ]);
  const { tenant, publisher } = sample;
  await publish(tenant, publisher, workflowPack(publisher, "three", { version: "1.2.0" }));
  const first = await dumpTenant(market.db, tenant.id);
  await upgrade(sample, newer);
  const second = await dumpTenant(market.db, tenant.id);
  await upgrade(sample);
  assert.equal((await rollBack(sample)).version, "1.1.0");
  assert.deepEqual(await dumpTenant(market.db, tenant.id), second);
  assert.equal((await rollBack(sample)).version, "1.0.0");
  assert.deepEqual(await dumpTenant(market.db, tenant.id), first);
  const problem = await tenant.refused("FAILED_PRECONDITION", "POST", `${installations}/${sample.id}/rollback`, {});
  assert.match(problem.detail, /nothing to roll back/);
});

test("a run that started on a rolled-back version finishes on it, and the number is not used again", async () => {
  const waiting = (text: string) => ({
    ...workflowDocument("sample.flow", text),
    steps: [
      { id: "wait", wait_event: { event: "go", timeout: "1h" } },
      { id: "one", transform: { text } },
    ],
  });
  const contents = (text: string) => [{ record: "workflow_definition", key: "main", content: waiting(text) }];
  const sample = await installed((publisher) => [
    workflowPack(publisher, "", { contents: contents("one") }),
    workflowPack(publisher, "", { ...newer, contents: contents("two") }),
  ]);
  const { tenant } = sample;
  await upgrade(sample);
  const { run } = await tenant.ok("POST", "/api/workflow-runs", { definition: "sample.flow", input: {} });
  assert.equal(run.version, 2);
  await rollBack(sample);
  const pinned = { definition: "sample.flow", version: 2, input: {} };
  await tenant.refused("FAILED_PRECONDITION", "POST", "/api/workflow-runs", pinned);
  await tenant.ok("POST", `/api/workflow-runs/${run.id}/signal`, { event: "go" });
  const ended = await tenant.ok("GET", `/api/workflow-runs/${run.id}`);
  assert.deepEqual([ended.status, ended.output], ["succeeded", { text: "two" }]);
  const { run: next } = await tenant.ok("POST", "/api/workflow-runs", { definition: "sample.flow", input: {} });
  assert.equal(next.version, 1);
  await upgrade(sample);
  const { active_version: active } = await tenant.ok("GET", "/api/workflow-definitions/sample.flow");
  assert.equal(active, 3);
});

test("changes after an upgrade refuse its rollback unless they are discarded", async () => {
  const sample = await installed((publisher) => [rulesPack(publisher, 10), rulesPack(publisher, 20, newer)]);
  const { tenant, installation } = sample;
  const before = await dumpTenant(market.db, tenant.id);
  await upgrade(sample);
  const rule = `/api/rules/${recordId(installation, "first")}`;
  await tenant.ok("PATCH", rule, { name: "Mine" });
  const problem = await tenant.refused("FAILED_PRECONDITION", "POST", `${installations}/${sample.id}/rollback`, {});
  assert.deepEqual(problem.changed_records, [`rule ${recordId(installation, "first")}`]);
  await rollBack(sample, { discard_changes: true });
  assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
});

test("an upgrade keeps the tenant's changes and takes those of the pack", async () => {
  const sample = await installed((publisher) => [rulesPack(publisher, 10), rulesPack(publisher, 20, newer)]);
  const { tenant, installation } = sample;
  const [first, second] = ["first", "second"].map((key) => `/api/rules/${recordId(installation, key)}`);
  await tenant.ok("PATCH", first!, { name: "My name", action: { type: "hold", hold_s: 77 } });
  await tenant.ok("PATCH", second!, { enabled: false });
  const preview = await tenant.ok("POST", `${installations}:preview`, {
    publisher: installation.publisher,
    name: installation.name,
  });
  const { plan } = await upgrade(sample);
  assert.deepEqual(plan, preview, "the preview tells exactly what the upgrade does");
  assert.deepEqual([plan.from_version, plan.to_version, plan.conflicts], ["1.0.0", "1.1.0", []]);
  assert.deepEqual(actions(plan), ["pool unchanged", "first update", "second keep"]);
  assert.deepEqual(plan.changes[1].paths, ["/priority"]);
  const { name, priority, action } = await tenant.ok("GET", first!);
  assert.deepEqual([name, priority, action.hold_s], ["My name", 20, 77]);
  assert.equal((await tenant.ok("GET", second!)).enabled, false);
});

test("a value that both sides changed is a conflict, which the caller decides", async () => {
  for (const [choice, priority] of [
    ["keep", 33],
    ["replace", 20],
  ] as const) {
    const sample = await installed((publisher) => [rulesPack(publisher, 10), rulesPack(publisher, 20, newer)]);
    const { tenant, installation } = sample;
    const rule = `/api/rules/${recordId(installation, "first")}`;
    await tenant.ok("PATCH", rule, { priority: 33, name: "Mine" });
    const before = await dumpTenant(market.db, tenant.id);
    const path = `${installations}/${sample.id}/upgrade`;
    const problem = await tenant.refused("PACK_CONFLICT", "POST", path, {});
    assert.deepEqual(
      problem.conflicts.map(({ key, kind, path: at }: Json) => [key, kind, at]),
      [["first", "rule", "/priority"]],
    );
    assert.deepEqual(await dumpTenant(market.db, tenant.id), before, "a refused upgrade changes nothing");
    const { plan } = await upgrade(sample, { on_conflict: choice });
    assert.equal(plan.conflicts.length, 1);
    const upgraded = await tenant.ok("GET", rule);
    assert.deepEqual([upgraded.priority, upgraded.name], [priority, "Mine"]);
  }
});

test("a record that the tenant deleted stays deleted unless the pack changed it", async () => {
  const sample = await installed((publisher) => [rulesPack(publisher, 10), rulesPack(publisher, 20, newer)]);
  const { tenant, installation } = sample;
  for (const key of ["first", "second"]) await tenant.ok("DELETE", `/api/rules/${recordId(installation, key)}`);
  const problem = await tenant.refused("PACK_CONFLICT", "POST", `${installations}/${sample.id}/upgrade`, {});
  assert.match(problem.conflicts[0].reason, /the tenant deleted the record/);
  const { plan } = await upgrade(sample, { on_conflict: "replace" });
  assert.deepEqual(actions(plan), ["pool unchanged", "first create", "second keep"]);
  const pool = recordId(installation, "pool");
  const rules = await tenant.ok("GET", `/api/pools/${pool}/rules`);
  assert.deepEqual(
    rules.map(({ name }: Json) => name),
    ["First"],
  );
});

test("an unpublished draft is never published by an upgrade", async () => {
  const sample = await installed((publisher) => [
    workflowPack(publisher, "one"),
    workflowPack(publisher, "two", newer),
  ]);
  const { tenant } = sample;
  const path = "/api/workflow-definitions/sample.flow";
  const draft = { ...workflowDocument("sample.flow", "one"), name: "Unfinished" };
  await tenant.ok("PATCH", `${path}/draft`, { document: draft });
  const problem = await tenant.refused("PACK_CONFLICT", "POST", `${installations}/${sample.id}/upgrade`, {});
  assert.match(problem.conflicts[0].reason, /draft is not published/);
  await upgrade(sample, { on_conflict: "keep" });
  const kept = await tenant.ok("GET", path);
  assert.deepEqual([kept.draft.name, kept.active_version], ["Unfinished", 1]);
});

test("widened permissions need consent in the request", async () => {
  const tasks = {
    ...{ dsl: "1", key: "sample.flow", timeout: "1d" },
    steps: [{ id: "one", task: { queue: "q", type: "t" }, with: {} }],
  };
  const sample = await installed((publisher) => [
    workflowPack(publisher, "one"),
    workflowPack(publisher, "", {
      ...newer,
      permissions: { effects: ["workflow:task", "workflow:notify"] },
      contents: [{ record: "workflow_definition", key: "main", content: tasks }],
    }),
  ]);
  const { tenant, id } = sample;
  const before = await dumpTenant(market.db, tenant.id);
  const path = `${installations}/${id}/upgrade`;
  const problem = await tenant.refused("PACK_CONSENT_REQUIRED", "POST", path, {});
  assert.deepEqual(problem.added_permissions, { hosts: [], scopes: [], effects: ["workflow:task", "workflow:notify"] });
  const half = { accepted_permissions: { effects: ["workflow:task"] } };
  await tenant.refused("PACK_CONSENT_REQUIRED", "POST", path, half);
  assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
  const { installation, plan } = await upgrade(sample, { accepted_permissions: problem.added_permissions });
  assert.deepEqual(plan.added_permissions, problem.added_permissions);
  assert.deepEqual(installation.permissions.effects, ["workflow:task", "workflow:notify"]);
});

test("an install that fails half-way leaves nothing behind", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  const good = { record: "workflow_definition", key: "good", content: workflowDocument("sample.good", "x") };
  const bad = {
    ...workflowDocument("sample.bad", "x"),
    steps: [{ id: "one", route: { pool: "no such pool" } }],
  };
  const pack = workflowPack(publisher, "", {
    permissions: { effects: ["workflow:route"] },
    contents: [good, { record: "workflow_definition", key: "bad", content: bad }],
  });
  await publish(tenant, publisher, pack);
  const before = await dumpTenant(market.db, tenant.id);
  const request = { publisher: publisher.name, name: "sample-workflow" };
  const problem = await tenant.refused("FAILED_PRECONDITION", "POST", installations, request);
  assert.match(problem.detail, /^workflow_definition bad: /);
  assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
});

test("an install refuses a name that the tenant uses, and a second install of the same pack", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher, workflowPack(publisher, "one"), notificationPack(publisher, "one"));
  await tenant.ok("POST", "/api/workflow-definitions", { document: workflowDocument("sample.flow", "mine") });
  const channels = { in_app: { title: "mine", body: "mine" } };
  await tenant.ok("PUT", "/api/v2/notification/workflows/sample.message", { channels });
  const before = await dumpTenant(market.db, tenant.id);
  for (const name of ["sample-workflow", "sample-notification"]) {
    const request = { publisher: publisher.name, name };
    await tenant.refused("ALREADY_EXISTS", "POST", installations, request);
  }
  assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
  await publish(tenant, publisher, rulesPack(publisher, 1));
  const { id } = await install(tenant, `${publisher.name}/sample-rules`);
  const again = { publisher: publisher.name, name: "sample-rules" };
  const problem = await tenant.refused("ALREADY_EXISTS", "POST", installations, again);
  assert.equal(problem.installation_id, id);
});

test("an uninstall is refused while records are in use, and names what uses them", async () => {
  const sample = await installed((publisher) => [
    workflowPack(publisher, "one"),
    workflowPack(publisher, "two", newer),
  ]);
  const { tenant, publisher, id } = sample;
  const caller = {
    ...workflowDocument("my.caller", "x"),
    steps: [{ id: "one", subworkflow: { key: "sample.flow", input: {} } }],
  };
  const made = await tenant.ok("POST", "/api/workflow-definitions", { document: caller });
  await tenant.ok("POST", `/api/workflow-definitions/${made.id}/publish`, {});
  await tenant.ok("POST", "/api/workflow-triggers", {
    name: "my trigger",
    definition: "sample.flow",
    schedule: { cron: "0 0 1 1 *" },
  });
  const path = `${installations}/${id}/uninstall`;
  const problem = await tenant.refused("IN_USE", "POST", path, {});
  assert.deepEqual(problem.used_by, [
    { what: "workflow definition", name: "my.caller" },
    { what: "workflow trigger", name: "my trigger" },
  ]);

  await publish(tenant, publisher, notificationPack(publisher, "one"));
  const messages = await install(tenant, `${publisher.name}/sample-notification`);
  const notifier = {
    ...workflowDocument("my.notifier", "x"),
    steps: [{ id: "one", notify: { workflow_key: "sample.message", to: "u1" } }],
  };
  const other = await tenant.ok("POST", "/api/workflow-definitions", { document: notifier });
  await tenant.ok("POST", `/api/workflow-definitions/${other.id}/publish`, {});
  const inUse = await tenant.refused("IN_USE", "POST", `${installations}/${messages.id}/uninstall`, {});
  assert.deepEqual(inUse.used_by, [{ what: "workflow definition", name: "my.notifier" }]);

  await tenant.ok("POST", `/api/workflow-definitions/${other.id}/archive`, {});
  await tenant.ok("POST", `${installations}/${messages.id}/uninstall`, {});
  await tenant.refused("NOT_FOUND", "GET", "/api/v2/notification/workflows/sample.message");
  assert.deepEqual(await tenant.ok("GET", "/api/v2/layouts"), []);
  await tenant.refused("NOT_FOUND", "GET", `${installations}/${messages.id}`);
});

test("the triggers of a workflow pack start its runs, are exported with it, and leave with it", async () => {
  const sample = await installed((publisher) => [
    triggerPack(publisher, [yearly("0 0 1 1 *"), onOrder]),
    triggerPack(publisher, [yearly("0 0 2 1 *"), onOrder], newer),
  ]);
  const { tenant, id, installation } = sample;
  const path = `/api/workflow-triggers/${recordId(installation, "order")}`;
  const event = { id: "e1", type: "order.paid", subject: "o1", data: { id: "o1", total: 50 } };
  const { run_id: run } = await tenant.ok("POST", `${path}:fire`, { event });
  assert.equal((await tenant.ok("GET", `/api/workflow-runs/${run}`)).definition_key, "sample.flow");
  // What the tenant has disabled stays disabled.
  await tenant.ok("PATCH", `/api/workflow-triggers/${recordId(installation, "yearly")}`, { enabled: false });
  await upgrade(sample);
  const changed = await tenant.ok("GET", `/api/workflow-triggers/${recordId(installation, "yearly")}`);
  assert.deepEqual([changed.schedule.cron, changed.enabled], ["0 0 2 1 *", false]);
  const head = { publisher: "acme", name: "exported", version: "1.0.0", title: "Exported" };
  const { pack } = await tenant.ok("POST", "/api/v2/marketplace/packs:export", {
    ...head,
    records: [
      { kind: "workflow_definition", record: "sample.flow" },
      { kind: "workflow_trigger", record: "Sample order" },
    ],
  });
  assert.deepEqual([pack.kind, pack.slots[0].kind], ["workflow", "environment"]);
  const { definition, environment_id: environment } = pack.contents[1].content;
  assert.deepEqual([definition, environment], ["[[record.workflow]]", "[[slot.environment]]"]);
  await tenant.ok("POST", `${installations}/${id}/uninstall`, {});
  assert.deepEqual(await tenant.ok("GET", "/api/workflow-triggers"), []);
});

test("an uninstall can keep the records as the tenant's own", async () => {
  const sample = await installed((publisher) => [rulesPack(publisher, 10), rulesPack(publisher, 20, newer)]);
  const { tenant, id, installation } = sample;
  await tenant.ok("POST", `${installations}/${id}/uninstall`, { keep_records: true });
  assert.equal((await tenant.ok("GET", `/api/rules/${recordId(installation, "first")}`)).name, "First");
  const { total } = await tenant.call("GET", installations);
  assert.equal(total, 0);
});

test("a required pack must be installed first, and stays while another pack requires it", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  const requires = [{ pack: `${publisher.name}/sample-notification`, version: "^1.0.0" }];
  await publish(
    tenant,
    publisher,
    notificationPack(publisher, "one"),
    notificationPack(publisher, "two", { version: "2.0.0" }),
    workflowPack(publisher, "one", { requires }),
  );
  const request = { publisher: publisher.name, name: "sample-workflow" };
  const problem = await tenant.refused("FAILED_PRECONDITION", "POST", installations, request);
  assert.match(problem.detail, /requires .*sample-notification \^1\.0\.0, which is not installed/);
  const needed = await install(tenant, `${publisher.name}/sample-notification`, {}, "1.0.0");
  await install(tenant, `${publisher.name}/sample-workflow`);
  for (const action of ["uninstall", "upgrade"]) {
    const refused = await tenant.refused("IN_USE", "POST", `${installations}/${needed.id}/${action}`, {});
    assert.deepEqual(refused.required_by, [`${publisher.name}/sample-workflow`]);
  }
});

test("two installs of the same pack at the same time create one installation", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher, rulesPack(publisher, 1));
  const request = { publisher: publisher.name, name: "sample-rules" };
  const answers = await Promise.all([1, 2, 3].map(() => tenant.call("POST", installations, request)));
  assert.equal(answers.filter(({ data }) => data !== undefined).length, 1);
  assert.equal((await tenant.call("GET", installations)).total, 1);
  assert.equal((await tenant.ok("GET", "/api/pools")).length, 1);
});
