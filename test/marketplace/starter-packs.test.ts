import assert from "node:assert/strict";
import { before, test } from "node:test";
import { until } from "../harness/until.ts";
import { install, type Json, type Market, startMarket, type Tenant } from "./market-fixture.ts";

let market: Market;
before(async () => {
  market = await startMarket({ "notification.outbox.enabled": "true" });
});

const packs = "/api/v2/marketplace/packs";
const starterPacks = [
  ...["account-messages", "daily-digest", "dunning-messages", "dunning-reminders", "employee-offboarding"],
  ...["incident-escalation", "incident-messages", "lead-routing", "onboarding-sequence", "order-fulfilment"],
  ...["partner-webhook", "refund-approval", "sla-escalation", "support-triage"],
];

/** Creates a subscriber with an address. */
async function subscriber(tenant: Tenant, externalId: string): Promise<string> {
  const profile = { external_id: externalId, first_name: "Ada", email: `${externalId}@example.com` };
  return (await tenant.ok("POST", "/api/v2/notification/subscribers", profile)).id;
}

/** Triggers a notification for a new subscriber; returns the mail that was rendered. */
async function mailOf(tenant: Tenant, workflowKey: string, payload: object): Promise<Json> {
  const externalId = `reader-${workflowKey.replaceAll(/[._]/g, "-")}`;
  await subscriber(tenant, externalId);
  const request = { workflow_key: workflowKey, subscriber_external_id: externalId, payload };
  const { outcomes } = await tenant.ok("POST", "/api/v2/notifications/trigger", request);
  for (const { channel, outcome, failure_code: failure } of outcomes) {
    if (channel !== "sms") assert.equal(outcome, "sent", `${workflowKey} ${channel}: ${failure}`);
  }
  const mails = await tenant.ok("GET", "/api/v2/notification/outbox?channel=email");
  return mails.find(({ recipient }: Json) => recipient === `${externalId}@example.com`);
}

async function startRun(tenant: Tenant, definition: string, input: object): Promise<string> {
  const { run } = await tenant.ok("POST", "/api/workflow-runs", { definition, input });
  return run.id;
}

async function readRun(tenant: Tenant, id: string): Promise<Json> {
  return tenant.ok("GET", `/api/workflow-runs/${id}`);
}

/** Waits for the end of a run. */
function endOf(tenant: Tenant, id: string): Promise<Json> {
  return until(
    () => readRun(tenant, id),
    ({ status }) => status !== "running" && status !== "waiting",
  );
}

/** Leases one task of a queue. */
async function leaseTask(tenant: Tenant, queue: string, types: readonly string[]): Promise<Json> {
  const capabilities = types.map((type) => ({ type, versions: ["1.0.0"] }));
  const poll = { queue, worker_id: "worker", capabilities, slots: 1, wait_s: 20 };
  const { tasks } = await tenant.ok("POST", "/api/workflow-tasks:poll", poll);
  assert.equal(tasks.length, 1, `a task of the queue ${queue}`);
  return tasks[0];
}

async function completeTask(tenant: Tenant, queue: string, type: string, output: object): Promise<Json> {
  const { task_id, token, input } = await leaseTask(tenant, queue, [type]);
  const { results } = await tenant.ok("POST", "/api/workflow-tasks:complete", {
    completions: [{ task_id, token, output }],
  });
  assert.equal(results[0].error_code, "", results[0].error_message);
  return input;
}

async function newPool(tenant: Tenant, name: string): Promise<string> {
  return (await tenant.ok("POST", "/api/pools", { name, strategy: "priority" })).id;
}

async function addRecipient(tenant: Tenant, poolId: string, recipient: object): Promise<string> {
  return (await tenant.ok("POST", `/api/pools/${poolId}/recipients`, recipient)).id;
}

/** Routes an item; returns the decision. */
async function route(tenant: Tenant, poolId: string, attributes: object): Promise<Json> {
  const { decision, ...answer } = await tenant.ok("POST", "/api/route", { pool_id: poolId, type: "item", attributes });
  return decision ?? answer;
}

test("all starter packs are signed and listed", async () => {
  const tenant = await market.newTenant();
  const { data, total } = await tenant.call("GET", `${packs}?publisher=switchyard&per_page=100`);
  assert.deepEqual(
    data.map(({ name }: Json) => name),
    starterPacks,
  );
  assert.equal(total, starterPacks.length);
  for (const { title, description, built_in: builtIn, key_id: keyId } of data) {
    assert.ok(title && description && builtIn);
    assert.match(keyId, /^ed25519-/);
  }
});

test("every starter pack can be previewed, installed and uninstalled in one tenant", async () => {
  const tenant = await market.newTenant();
  const pool = await newPool(tenant, "People");
  const values: Record<string, string> = { pool, company: "Acme", product: "Acme", first: "ada", second: "bob" };
  const order = starterPacks.toSorted((a, b) => Number(b.endsWith("-messages")) - Number(a.endsWith("-messages")));
  const ids: string[] = [];
  for (const name of order) {
    const pack = await tenant.ok("GET", `${packs}/switchyard/${name}`);
    const slots = Object.fromEntries(
      pack.slots.flatMap((slot: Json) => (slot.required ? [[slot.name, values[slot.name]]] : [])),
    );
    const request = { publisher: "switchyard", name, slots };
    const plan = await tenant.ok("POST", "/api/v2/marketplace/installations:preview", request);
    assert.deepEqual(plan.missing_slots, []);
    assert.deepEqual(plan.added_permissions, pack.permissions);
    const installation = await install(tenant, `switchyard/${name}`, slots);
    assert.equal(installation.records.length, plan.changes.length);
    assert.equal(installation.available_version, "1.0.0");
    ids.push(installation.id);
  }
  for (const id of ids.toReversed()) await tenant.ok("POST", `/api/v2/marketplace/installations/${id}/uninstall`, {});
  assert.equal((await tenant.call("GET", "/api/v2/marketplace/installations")).total, 0);
});

test("the starter packs declare exactly the permissions that their records need", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await tenant.ok("POST", "/api/v2/marketplace/publisher-keys", {
    publisher: publisher.name,
    public_key: publisher.publicKey,
  });
  const values: Record<string, string> = { pool: await newPool(tenant, "People"), company: "A", product: "A" };
  let patch = 0;
  for (const name of starterPacks) {
    const { document } = await tenant.ok("GET", `${packs}/switchyard/${name}`);
    const { digest: _d, signature: _s, key_id: _k, requires: _r, ...pack } = document;
    await tenant.ok("POST", packs, { pack: publisher.sign({ ...pack, publisher: publisher.name, version: "2.0.0" }) });
    for (const [aspect, all] of Object.entries<string[]>(pack.permissions)) {
      for (const permission of all) {
        const permissions = { ...pack.permissions, [aspect]: all.filter((each) => each !== permission) };
        const version = `1.0.${patch++}`;
        const lacking = publisher.sign({ ...pack, publisher: publisher.name, version, permissions });
        const published = await tenant.call("POST", packs, { pack: lacking });
        const slots = Object.fromEntries(
          pack.slots?.flatMap((slot: Json) => ("default" in slot ? [] : [[slot.name, values[slot.name] ?? "x"]])) ?? [],
        );
        const request = { publisher: publisher.name, name, version, slots };
        const path = "/api/v2/marketplace/installations:preview";
        const isPublished = published.errorCode === undefined;
        const problem = isPublished ? await tenant.refused("FAILED_PRECONDITION", "POST", path, request) : published;
        assert.ok(problem.detail.includes(permission) || /cannot be published/.test(problem.detail), problem.detail);
      }
    }
  }
});

test("incident escalation tells the first person, and the second one when nobody acknowledges", async () => {
  const tenant = await market.newTenant();
  await install(tenant, "switchyard/incident-messages", { company: "Acme" });
  await install(tenant, "switchyard/incident-escalation", { first: "first", second: "second", wait: "1s" });
  const [first, second] = [await subscriber(tenant, "first"), await subscriber(tenant, "second")];
  const inbox = async (id: string) =>
    (await tenant.ok("GET", `/api/v2/notification/subscribers/${id}/inbox`)).map(({ title }: Json) => title);
  const input = { incident: "i1", title: "Database down", severity: "high" };
  const run = await startRun(tenant, "incident.escalate", input);
  await until(async () => (await inbox(second)).length > 0);
  assert.deepEqual(await inbox(first), ["HIGH: Database down"]);
  assert.deepEqual(await inbox(second), ["Escalated: Database down"]);
  await tenant.ok("POST", `/api/workflow-runs/${run}/signal`, {
    event: "incident.acknowledged",
    scope: "i1",
    payload: { by: "second" },
  });
  const { status, output } = await endOf(tenant, run);
  assert.deepEqual([status, output], ["succeeded", { acknowledged_by: "second" }]);
});

test("incident messages render in the frame of the company", async () => {
  const tenant = await market.newTenant();
  await install(tenant, "switchyard/incident-messages", { company: "Acme & Co" });
  const mail = await mailOf(tenant, "incident.opened", { severity: "high", title: "Down", summary: "<all>" });
  assert.equal(mail.subject, "HIGH: Down");
  assert.match(mail.html, /Acme & Co incident[\s\S]*<h2>Down<\/h2>[\s\S]*&lt;all&gt;[\s\S]*you are on call/);
});

test("a small refund is paid at once, and a large one after an approval", async () => {
  const tenant = await market.newTenant();
  await install(tenant, "switchyard/refund-approval", { limit: 100, approvers: "admin" });
  const small = await startRun(tenant, "refund.approve", { order: "o1", amount: 100, currency: "EUR" });
  const paid = await completeTask(tenant, "payments", "refund.pay", { paid: true });
  assert.deepEqual(paid, { order: "o1", amount: 100, currency: "EUR" });
  assert.equal((await readRun(tenant, small)).status, "succeeded");
  const large = await startRun(tenant, "refund.approve", { order: "o2", amount: 101, currency: "EUR" });
  assert.equal((await readRun(tenant, large)).status, "waiting");
  const path = `/api/workflow-runs/${large}/approvals/approval/decide`;
  await tenant.ok("POST", path, { approved: true, comment: "fine" });
  await completeTask(tenant, "payments", "refund.pay", { paid: true });
  assert.deepEqual((await readRun(tenant, large)).output, { order: "o2", payment: { paid: true } });
});

test("account messages render, and a password reset ignores preferences", async () => {
  const tenant = await market.newTenant();
  await install(tenant, "switchyard/account-messages", { product: "Rocket" });
  const welcome = await mailOf(tenant, "account.welcome", { url: "https://example.com/start" });
  assert.equal(welcome.subject, "Welcome to Rocket");
  assert.match(welcome.html, /Hello Ada[\s\S]*https:\/\/example\.com\/start[\s\S]*support@example\.com/);
  const link = { url: "https://example.com/reset", expires_at: "2030-01-02T03:04:05Z" };
  const reset = await mailOf(tenant, "account.password_reset", link);
  assert.match(reset.html, /Choose a new password[\s\S]*2030/);
  assert.match((await mailOf(tenant, "account.verify", link)).subject, /Confirm your address for Rocket/);
});

test("onboarding welcomes a user and asks a person to help one who never starts", async () => {
  const onboarding = async (user: string, patience: string) => {
    const tenant = await market.newTenant();
    const pool = await newPool(tenant, "Helpers");
    await install(tenant, "switchyard/account-messages", { product: "Rocket" });
    await install(tenant, "switchyard/onboarding-sequence", { pool: "Helpers", patience });
    await subscriber(tenant, user);
    return { tenant, pool, run: await startRun(tenant, "user.onboard", { user }) };
  };
  const active = await onboarding("ada", "1h");
  await active.tenant.ok("POST", `/api/workflow-runs/${active.run}/signal`, { event: "user.activated", scope: "ada" });
  assert.deepEqual((await endOf(active.tenant, active.run)).output, { activated: true });
  const idle = await onboarding("bob", "1s");
  assert.deepEqual((await endOf(idle.tenant, idle.run)).output, { activated: false });
  const items = await idle.tenant.ok("GET", `/api/queues/${idle.pool}/items`);
  assert.deepEqual(
    items.map(({ type, key }: Json) => [type, key]),
    [["onboarding.help", "bob"]],
  );
});

test("dunning stops as soon as an invoice is paid, and ends with accounting otherwise", async () => {
  const dunning = async (invoice: string, interval: string) => {
    const tenant = await market.newTenant();
    await newPool(tenant, "Accounting");
    await install(tenant, "switchyard/dunning-messages", { company: "Acme" });
    await install(tenant, "switchyard/dunning-reminders", { pool: "Accounting", interval });
    await subscriber(tenant, "customer");
    const input = { invoice, customer: "customer", amount: 12.5, currency: "EUR", due: "2026-01-02" };
    return { tenant, run: await startRun(tenant, "invoice.dun", input) };
  };
  const paid = await dunning("n1", "1h");
  await paid.tenant.ok("POST", `/api/workflow-runs/${paid.run}/signal`, { event: "invoice.paid", scope: "n1" });
  assert.deepEqual((await endOf(paid.tenant, paid.run)).output, { paid: true });
  const unpaid = await dunning("n2", "1s");
  assert.deepEqual((await endOf(unpaid.tenant, unpaid.run)).output, { paid: false });
  const mails = await unpaid.tenant.ok("GET", "/api/v2/notification/outbox?channel=email");
  assert.deepEqual(mails.map(({ subject }: Json) => subject).toSorted(), [
    "Final notice: invoice n2",
    "Invoice n2 is due",
    "Second reminder: invoice n2",
  ]);
});

test("dunning messages show the amount in its currency", async () => {
  const tenant = await market.newTenant();
  await install(tenant, "switchyard/dunning-messages", { company: "Acme" });
  const payload = { invoice: "n1", amount: 12.5, currency: "EUR", due: "2026-01-02" };
  const mail = await mailOf(tenant, "invoice.reminder", payload);
  assert.match(mail.html, /Dear Ada[\s\S]*€12\.50[\s\S]*2026[\s\S]*Acme/);
});

test("the daily digest lists all items", async () => {
  const tenant = await market.newTenant();
  await install(tenant, "switchyard/daily-digest", { product: "Rocket" });
  const items = [
    { title: "One", text: "first", url: "https://example.com/1" },
    { title: "Two", text: "second" },
  ];
  const mail = await mailOf(tenant, "digest.daily", { items });
  assert.equal(mail.subject, "Rocket: 2 news");
  assert.match(mail.html, /<a href="https:\/\/example\.com\/1">One<\/a>: first[\s\S]*<li>Two: second/);
});

test("lead routing rejects, prioritizes and routes by territory and experience", async () => {
  const tenant = await market.newTenant();
  const pool = await newPool(tenant, "Sales");
  await addRecipient(tenant, pool, { name: "Nils", attributes: { territories: ["SE"] }, priority: 1 });
  const german = { territories: ["DE", "AT"] };
  const junior = await addRecipient(tenant, pool, { name: "Junior", attributes: german, priority: 2 });
  const senior = { name: "Senior", attributes: german, skills: { enterprise: 5 }, priority: 3 };
  const seniorId = await addRecipient(tenant, pool, senior);
  await install(tenant, "switchyard/lead-routing", { pool: "Sales" });
  const lead = { email: "lead@example.com", country: "DE" };
  assert.equal((await route(tenant, pool, lead)).recipient_id, junior);
  assert.equal((await route(tenant, pool, { ...lead, employees: 5000 })).recipient_id, seniorId);
  assert.equal((await route(tenant, pool, { ...lead, country: "FR" })).recipient_id, "", "nobody knows France");
  const response = await tenant.call("POST", "/api/route", { pool_id: pool, type: "item", attributes: {} });
  assert.match(JSON.stringify(response), /neither an email nor a phone number/);
});

test("support triage requires the language and prefers knowledge of the product", async () => {
  const tenant = await market.newTenant();
  const pool = await newPool(tenant, "Support");
  const english = await addRecipient(tenant, pool, { name: "English", priority: 1 });
  const german = await addRecipient(tenant, pool, { name: "German", skills: { de: 3 }, priority: 2 });
  const expert = await addRecipient(tenant, pool, { name: "Expert", skills: { de: 3, billing: 4 }, priority: 3 });
  await install(tenant, "switchyard/support-triage", { pool });
  assert.equal((await route(tenant, pool, { language: "en" })).recipient_id, english);
  assert.equal((await route(tenant, pool, { language: "de" })).recipient_id, german);
  assert.equal((await route(tenant, pool, { language: "de", product: "billing" })).recipient_id, expert);
});

test("SLA escalation sends urgent items to the lead and others to specialists", async () => {
  const tenant = await market.newTenant();
  const { records } = await install(tenant, "switchyard/sla-escalation", { seconds: 60 });
  const idOf = (key: string) => records.find((each: Json) => each.key === key).record_id;
  const lead = await addRecipient(tenant, idOf("lead"), { name: "Lead" });
  await addRecipient(tenant, idOf("team"), { name: "Anybody" });
  const specialist = await addRecipient(tenant, idOf("team"), { name: "Specialist", skills: { network: 3 } });
  assert.equal((await route(tenant, idOf("team"), { sla_minutes: 10 })).recipient_id, lead);
  assert.equal((await route(tenant, idOf("team"), { topic: "network" })).recipient_id, specialist);
  const { config } = await tenant.ok("GET", `/api/pools/${idOf("team")}`);
  assert.equal(config.fallback.steps[0].after_s, 60);
});

test("order fulfilment ships an order, and undoes what was done when a step fails", async () => {
  const tenant = await market.newTenant();
  await install(tenant, "switchyard/order-fulfilment");
  const order = { items: ["a"], amount: 5, currency: "EUR" };
  const shipped = await startRun(tenant, "order.fulfil", { ...order, order: "o1" });
  await completeTask(tenant, "stock", "stock.reserve", {});
  await completeTask(tenant, "payments", "payment.charge", {});
  await completeTask(tenant, "shipping", "shipment.create", { tracking: "t1" });
  assert.deepEqual((await readRun(tenant, shipped)).output, { order: "o1", shipment: { tracking: "t1" } });
  const declined = await startRun(tenant, "order.fulfil", { ...order, order: "o2" });
  await completeTask(tenant, "stock", "stock.reserve", {});
  const { task_id, token } = await leaseTask(tenant, "payments", ["payment.charge"]);
  await tenant.ok("POST", "/api/workflow-tasks:fail", {
    failures: [{ task_id, token, code: "declined", message: "no money", retryable: false }],
  });
  assert.deepEqual(await completeTask(tenant, "stock", "stock.release", {}), { order: "o2" });
  const { status, error } = await readRun(tenant, declined);
  assert.deepEqual([status, error.code], ["failed", "declined"]);
});

test("offboarding does its tasks at the same time after an approval", async () => {
  const tenant = await market.newTenant();
  await install(tenant, "switchyard/employee-offboarding");
  const run = await startRun(tenant, "employee.offboard", { employee: "ada", last_day: "2026-01-01T00:00:00Z" });
  await tenant.ok("POST", `/api/workflow-runs/${run}/approvals/approve/decide`, { approved: true });
  for (const type of ["mailbox.archive", "account.close", "hardware.collect"]) {
    await completeTask(tenant, "it", type, { done: type });
  }
  const { status, output } = await readRun(tenant, run);
  assert.equal(status, "succeeded");
  assert.deepEqual(Object.keys(output).toSorted(), ["accounts", "hardware", "mailbox"]);
});

test("the partner webhook adds a provider to the tenant's catalogue, until it is uninstalled", async () => {
  const tenant = await market.newTenant();
  const { id } = await install(tenant, "switchyard/partner-webhook");
  const provider = await tenant.ok("GET", "/api/v2/connector/providers/partner-webhook");
  assert.equal(provider.name, "Partner webhook");
  const action = await tenant.ok("GET", "/api/v2/connector/actions/partner-webhook.event.send");
  assert.equal(action.provider_key, "partner-webhook");
  await tenant.ok("POST", `/api/v2/marketplace/installations/${id}/uninstall`, {});
  await tenant.refused("NOT_FOUND", "GET", "/api/v2/connector/providers/partner-webhook");
});
