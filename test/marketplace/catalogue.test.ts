import assert from "node:assert/strict";
import { before, test } from "node:test";
import { dumpTenant, install, type Json, type Market, publish, startMarket, type Tenant } from "./market-fixture.ts";
import { notificationPack, rulesPack, workflowDocument, workflowPack } from "./sample-packs.ts";

let market: Market;
before(async () => {
  market = await startMarket();
});

const packs = "/api/v2/marketplace/packs";
const installations = "/api/v2/marketplace/installations";
const names = ({ data }: Json): string[] => data.map(({ name }: Json) => name);

test("lists have numbered pages with an exact total, also beyond the end", async () => {
  const tenant = await market.newTenant();
  const all = await tenant.call("GET", `${packs}?per_page=100`);
  assert.equal(all.total, all.data.length);
  assert.deepEqual([all.page, all.per_page], [1, 100]);
  assert.deepEqual(Object.keys(all), ["data", "total", "page", "per_page", "metadata"]);
  const seen: string[] = [];
  for (let page = 1; page <= Math.ceil(all.total / 5); page++) {
    const part = await tenant.call("GET", `${packs}?page=${page}&per_page=5`);
    assert.deepEqual([part.total, part.page, part.per_page], [all.total, page, 5]);
    seen.push(...names(part));
  }
  assert.deepEqual(seen, names(all));
  const beyond = await tenant.call("GET", `${packs}?page=1000`);
  assert.deepEqual([beyond.data, beyond.total, beyond.page, beyond.per_page], [[], all.total, 1000, 20]);
  for (const query of ["page=0", "per_page=0", "per_page=101", "page=-1", "cursor=x", "limit=5"]) {
    await tenant.refused("INVALID_ARGUMENT", "GET", `${packs}?${query}`);
  }
});

test("a search finds words and their beginnings in names, titles, tags and descriptions, best first", async () => {
  const tenant = await market.newTenant();
  const search = async (query: string) =>
    names(await tenant.call("GET", `${packs}?query=${encodeURIComponent(query)}`));
  assert.deepEqual(await search("refunds"), ["refund-approval"]);
  assert.deepEqual(await search("refu appr"), ["refund-approval"]);
  assert.equal((await search("dunning")).length, 2);
  assert.equal((await search("escalation"))[0], "incident-escalation");
  assert.deepEqual(await search("saga"), ["order-fulfilment"], "a tag");
  assert.deepEqual(await search("nothing-like-this"), []);
  assert.ok((await search("'; drop table --")).length === 0);
  assert.ok((await search("!!!")).length > 0, "no words: everything");
  const publisher = market.newPublisher();
  await publish(tenant, publisher, workflowPack(publisher, "one", { title: "Refunds for partnerships" }));
  assert.deepEqual((await search("refund")).toSorted(), ["refund-approval", "sample-workflow"]);
  assert.deepEqual(
    await search("a refund of the partner"),
    ["sample-workflow"],
    "words without a meaning of their own",
  );
  for (const [word, name] of [
    ["escalation", "incident-escalation"],
    ["incident", "incident-escalation"],
    ["fulfilment", "order-fulfilment"],
    ["partnerships", "sample-workflow"],
  ] as const) {
    for (let length = 1; length <= word.length; length++) {
      const typed = word.slice(0, length);
      assert.ok((await search(typed)).includes(name), `${typed} is the beginning of ${word}`);
    }
  }
});

test("packs are filtered by kind, publisher and installation", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher, rulesPack(publisher, 1), notificationPack(publisher, "one"));
  await install(tenant, `${publisher.name}/sample-rules`);
  const list = async (query: string) => names(await tenant.call("GET", `${packs}?per_page=100&${query}`));
  assert.deepEqual(await list("installed=true"), ["sample-rules"]);
  assert.ok(!(await list("installed=false")).includes("sample-rules"));
  assert.deepEqual(await list(`publisher=${publisher.name}`), ["sample-notification", "sample-rules"]);
  assert.deepEqual(await list("kind=connector"), ["partner-webhook"]);
  assert.deepEqual(await list("kind=rules&installed=false"), ["lead-routing", "sla-escalation", "support-triage"]);
  await tenant.refused("INVALID_ARGUMENT", "GET", `${packs}?kind=other`);
  const [shown] = (await tenant.call("GET", `${packs}?installed=true`)).data;
  assert.deepEqual([shown.installed_version, shown.document, shown.versions], ["1.0.0", undefined, []]);
});

test("a pack shows its document and all versions, newest first", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  const versions = ["1.9.0", "1.10.0", "1.2.0"];
  for (const version of versions) await publish(tenant, publisher, workflowPack(publisher, version, { version }));
  const pack = await tenant.ok("GET", `${packs}/${publisher.name}/sample-workflow`);
  assert.equal(pack.version, "1.10.0");
  assert.deepEqual(
    pack.versions.map(({ version }: Json) => version),
    ["1.10.0", "1.9.0", "1.2.0"],
  );
  assert.equal(pack.document.key_id, publisher.keyId);
  const old = await tenant.ok("GET", `${packs}/${publisher.name}/sample-workflow?version=1.2.0`);
  assert.equal(old.document.version, "1.2.0");
  await tenant.refused("NOT_FOUND", "GET", `${packs}/${publisher.name}/nothing`);
  await tenant.refused("NOT_FOUND", "GET", `${packs}/${publisher.name}/sample-workflow?version=9.9.9`);
  await tenant.refused("NOT_FOUND", "GET", `${packs}/switchyard/nothing`);
});

test("publisher keys are listed with the built-in ones first", async () => {
  const tenant = await market.newTenant();
  const path = "/api/v2/marketplace/publisher-keys";
  const shipped = await tenant.call("GET", path);
  assert.deepEqual(
    shipped.data.map(({ publisher, built_in: builtIn }: Json) => [publisher, builtIn]),
    [["switchyard", true]],
  );
  for (const name of ["a-one", "b-two", "c-three"]) await publish(tenant, market.newPublisher(name));
  const all = await tenant.call("GET", `${path}?per_page=100`);
  assert.deepEqual(
    all.data.map(({ publisher }: Json) => publisher),
    ["switchyard", "a-one", "b-two", "c-three"],
  );
  for (const page of [1, 2, 3, 4]) {
    const part = await tenant.call("GET", `${path}?per_page=1&page=${page}`);
    assert.deepEqual([part.data, part.total], [[all.data[page - 1]], 4]);
  }
  assert.equal((await tenant.call("GET", `${path}?publisher=b-two`)).total, 1);
});

test("a malformed pack is refused with every fault and its place", async () => {
  const tenant = await market.newTenant();
  const pack = {
    ...{ pack: 2, publisher: "No Good", name: "x", kind: "rules", version: "1", title: "", nmae: "y" },
    slots: [{ name: "pool", kind: "thing", title: "T" }],
    contents: [
      { record: "rule", key: "a", content: { pool_id: "[[slot.none]]" } },
      { record: "layout", key: "a", content: {} },
    ],
  };
  const { violations } = await tenant.refused("INVALID_ARGUMENT", "POST", packs, { pack });
  const places = violations.map(({ field }: Json) => field);
  for (const field of [
    "pack",
    "publisher",
    "version",
    "title",
    "nmae",
    "slots[0].kind",
    "contents",
    "contents[1].record",
  ]) {
    assert.ok(places.includes(field), `${field} in ${places}`);
  }
});

test("a pack that nobody could install is not published", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher);
  const refusal = async (code: string, pack: object) =>
    (await tenant.refused(code, "POST", packs, { pack: publisher.sign(pack) })).detail;
  const flow = (steps: object[]) => [
    { record: "workflow_definition", key: "main", content: { dsl: "1", key: "sample.flow", timeout: "1d", steps } },
  ];
  const invalid = workflowPack(publisher, "", { contents: flow([{ id: "one", transfrom: {} }]) });
  assert.match(await refusal("INVALID_ARGUMENT", invalid), /^workflow_definition main: .*transfrom/);
  const task = flow([{ id: "one", task: { queue: "q", type: "t" }, with: {} }]);
  const sneaky = workflowPack(publisher, "", { contents: task });
  assert.match(await refusal("FAILED_PRECONDITION", sneaky), /does more than it declares: .* effects: workflow:task/);
  const { document } = await tenant.ok("GET", `${packs}/switchyard/partner-webhook`);
  const { digest: _d, signature: _s, key_id: _k, ...shipped } = document;
  const [{ content }] = shipped.contents;
  const taken = {
    ...{ ...shipped, publisher: publisher.name },
    contents: [{ record: "manifest", key: "provider", content: { ...content, key: "slack" } }],
  };
  assert.match(await refusal("ALREADY_EXISTS", taken), /slack is the key of a built-in provider/);
  assert.equal((await tenant.call("GET", `${packs}?publisher=${publisher.name}`)).total, 0);
});

test("slots are checked: a pool, an environment, a text and unknown names", async () => {
  const tenant = await market.newTenant();
  const install = { publisher: "switchyard", name: "support-triage" };
  const refuse = async (request: object, text: RegExp) => {
    const problem = await tenant.refused("INVALID_ARGUMENT", "POST", installations, request);
    assert.match(problem.detail, text);
  };
  await refuse({ ...install, slots: {} }, /needs values for: pool/);
  await refuse({ ...install, slots: { pool: "no such pool" } }, /slots\.pool: must be the id of a pool/);
  await refuse({ ...install, slots: { pol: "x" } }, /slots\.pol: is not a slot of the pack; did you mean pool\?/);
  await tenant.ok("POST", "/api/pools", { name: "Support" });
  for (const language of ['en" || true || "', "{{x}}", "=x", "a\nb", "<b>", ""]) {
    await refuse({ ...install, slots: { pool: "Support", language } }, /slots\.language: must/);
  }
  const sla = { publisher: "switchyard", name: "sla-escalation" };
  await refuse({ ...sla, slots: { environment: "mars" } }, /slots\.environment: must be the id or the key/);
  await refuse({ ...sla, slots: { seconds: "300" } }, /slots\.seconds: must be a number/);
  const plan = await tenant.ok("POST", `${installations}:preview`, install);
  assert.deepEqual([plan.missing_slots, plan.changes.length], [["pool"], 3]);
});

test("a preview stores nothing", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher, rulesPack(publisher, 1));
  const before = await dumpTenant(market.db, tenant.id);
  const request = { publisher: publisher.name, name: "sample-rules" };
  const plan = await tenant.ok("POST", `${installations}:preview`, request);
  assert.deepEqual(
    plan.changes.map(({ key, action, record_id: id }: Json) => [key, action, id]),
    [
      ["pool", "create", ""],
      ["first", "create", ""],
      ["second", "create", ""],
    ],
  );
  assert.deepEqual(plan.added_permissions.effects, ["routing:pool", "routing:hold", "routing:set_priority"]);
  assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
});

/** Exports records, signs and publishes the pack in another tenant; returns what the export returned. */
async function moved(from: Tenant, to: Tenant, records: readonly { kind: string; record: string }[]): Promise<Json> {
  const publisher = market.newPublisher();
  const head = { publisher: publisher.name, name: "exported", version: "1.0.0", title: "Exported" };
  const { pack } = await from.ok("POST", `${packs}:export`, { ...head, records });
  assert.equal(pack.signature, undefined, "an export is not signed");
  await publish(to, publisher, pack);
  return { pack, name: `${publisher.name}/exported` };
}

test("what a tenant exports, another one can install", async () => {
  const [from, to] = [await market.newTenant(), await market.newTenant()];
  const publisher = market.newPublisher();
  await publish(from, publisher, notificationPack(publisher, "one"), rulesPack(publisher, 7));
  await install(from, `${publisher.name}/sample-notification`);
  const { records } = await install(from, `${publisher.name}/sample-rules`);
  const idOf = (key: string) => records.find((each: Json) => each.key === key).record_id;

  const messages = await moved(from, to, [
    { kind: "layout", record: "Sample frame" },
    { kind: "notification_workflow", record: "sample.message" },
  ]);
  assert.deepEqual(messages.pack.permissions.effects, ["notify:email", "notify:in_app"]);
  await install(to, messages.name);
  const sent = await to.ok("GET", "/api/v2/notification/workflows/sample.message");
  const [layout] = await to.ok("GET", "/api/v2/layouts");
  assert.equal(sent.channels.email.layout_id, layout.id);

  const rules = await moved(from, to, [
    { kind: "pool", record: idOf("pool") },
    { kind: "rule", record: idOf("first") },
  ]);
  assert.deepEqual(rules.pack.slots, [{ name: "environment", kind: "environment", title: "Environment" }]);
  await install(to, rules.name, { environment: "production" });
  const [pool] = await to.ok("GET", "/api/pools");
  assert.deepEqual([pool.name, pool.rule_count, pool.config.queue.max_depth], ["Sample pool", 1, 100]);

  const alone = await moved(from, to, [{ kind: "rule", record: idOf("second") }]);
  assert.deepEqual(alone.pack.slots, [{ name: "pool", kind: "pool", title: "Pool" }]);
  await install(to, alone.name, { pool: "Sample pool" });
  assert.equal((await to.ok("GET", `/api/pools/${pool.id}`)).rule_count, 2);
});

test("an exported workflow names its pools as slots", async () => {
  const [from, to] = [await market.newTenant(), await market.newTenant()];
  for (const tenant of [from, to]) await tenant.ok("POST", "/api/pools", { name: "People" });
  const document = {
    ...workflowDocument("my.flow", "People"),
    steps: [
      { id: "ask", route: { pool: "People", type: "ask" } },
      { id: "one", transform: { text: "People" } },
    ],
  };
  const { id } = await from.ok("POST", "/api/workflow-definitions", { document });
  await from.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  const { pack, name } = await moved(from, to, [{ kind: "workflow_definition", record: "my.flow" }]);
  const [{ content }] = pack.contents;
  assert.deepEqual([content.steps[0].route.pool, content.steps[1].transform.text], ["[[slot.pool]]", "People"]);
  await install(to, name, { pool: "People" });
  assert.equal((await to.ok("GET", "/api/workflow-definitions/my.flow")).active_version, 1);
});

test("an export refuses what cannot be part of a pack", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher, notificationPack(publisher, "one"), rulesPack(publisher, 7));
  await install(tenant, `${publisher.name}/sample-notification`);
  const { records } = await install(tenant, `${publisher.name}/sample-rules`);
  const head = { publisher: "acme", name: "exported", version: "1.0.0", title: "Exported" };
  const refuse = async (code: string, wanted: readonly object[]) =>
    tenant.refused(code, "POST", `${packs}:export`, { ...head, records: wanted });
  await refuse("NOT_FOUND", [{ kind: "rule", record: "nothing" }]);
  const message = { kind: "notification_workflow", record: "sample.message" };
  const problem = await refuse("FAILED_PRECONDITION", [message]);
  assert.match(problem.detail, /refers to the layout .*: export it before/);
  await refuse("INVALID_ARGUMENT", [message, { kind: "rule", record: records[1].record_id }]);
});

test("a connector pack is upgraded by a new version of its manifest, and rolled back exactly", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  const { document } = await tenant.ok("GET", `${packs}/switchyard/partner-webhook`);
  const { digest: _d, signature: _s, key_id: _k, ...shipped } = document;
  const content = { ...shipped.contents[0].content, key: "acme-hooks" };
  const packOf = (version: string, name: string) => ({
    ...shipped,
    ...{ publisher: publisher.name, name: "hooks", version },
    contents: [{ record: "manifest", key: "provider", content: { ...content, version, name } }],
  });
  await publish(tenant, publisher, packOf("1.0.0", "Hooks"), packOf("1.1.0", "Better hooks"));
  const { id } = await install(tenant, `${publisher.name}/hooks`, {}, "1.0.0");
  const provider = async () => (await tenant.ok("GET", "/api/v2/connector/providers/acme-hooks")).name;
  assert.equal(await provider(), "Hooks");
  const before = await dumpTenant(market.db, tenant.id);
  await tenant.ok("POST", `${installations}/${id}/upgrade`, {});
  assert.equal(await provider(), "Better hooks");
  await tenant.ok("POST", `${installations}/${id}/rollback`, {});
  assert.equal(await provider(), "Hooks");
  assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
});

test("a list of installations shows each one with its permissions and records, and without its changes", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher, workflowPack(publisher, "one"), rulesPack(publisher, 1));
  for (const name of ["sample-workflow", "sample-rules"]) await install(tenant, `${publisher.name}/${name}`);
  const listed = await tenant.call("GET", `${installations}?per_page=100`);
  assert.equal(listed.total, 2);
  assert.deepEqual(
    listed.data.map(({ name, records }: Json) => [name, records.length > 0]),
    [
      ["sample-workflow", true],
      ["sample-rules", true],
    ],
  );
  for (const each of listed.data) {
    const { changes, ...shown } = await tenant.ok("GET", `${installations}/${each.id}`);
    const { changes: none, ...inList } = each;
    assert.deepEqual(inList, shown);
    assert.deepEqual([changes.length, none], [1, []]);
  }
});

test("installs, upgrades, rollbacks and uninstalls are recorded as events", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(
    tenant,
    publisher,
    workflowPack(publisher, "one"),
    workflowPack(publisher, "two", { version: "1.1.0" }),
  );
  const { id } = await install(tenant, `${publisher.name}/sample-workflow`, {}, "1.0.0");
  for (const action of ["upgrade", "rollback", "uninstall"]) {
    await tenant.ok("POST", `${installations}/${id}/${action}`, {});
  }
  const events = await tenant.ok("GET", "/api/events?types=marketplace.*&limit=100");
  assert.deepEqual(events.map(({ type }: Json) => type).toReversed(), [
    ...["marketplace.key.registered", "marketplace.pack.published", "marketplace.pack.published"],
    ...["marketplace.pack.installed", "marketplace.pack.upgraded", "marketplace.pack.rolled_back"],
    "marketplace.pack.uninstalled",
  ]);
});

test("operations on packs are counted by their outcome once they are committed, and conflicts by the caller's choice", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  const counted = async (pattern: RegExp) => {
    const text = await market.service.service.metrics.render();
    return Number(pattern.exec(text)?.[1] ?? 0);
  };
  const operations = (operation: string, outcome: string) =>
    counted(new RegExp(`marketplace_operations_total\\{operation="${operation}",outcome="${outcome}"\\} (\\d+)`));
  const kinds = [
    ...(["publish", "install", "upgrade", "rollback", "uninstall", "yank", "preview"] as const).map((each) => [
      each,
      "ok",
    ]),
    ["install", "ALREADY_EXISTS"],
    ["publish", "PACK_UNTRUSTED"],
    ["upgrade", "PACK_CONFLICT"],
  ] as const;
  const all = async () => {
    const counts: number[] = [];
    for (const [operation, outcome] of kinds) counts.push(await operations(operation!, outcome!));
    return [...counts, await counted(/marketplace_conflicts_total\{choice="refuse"\} (\d+)/)];
  };
  const before = await all();
  await publish(tenant, publisher, rulesPack(publisher, 1), rulesPack(publisher, 2, { version: "1.1.0" }));
  const unknown = market.newPublisher(publisher.name).sign(rulesPack(publisher, 3, { version: "1.2.0" }));
  await tenant.refused("PACK_UNTRUSTED", "POST", packs, { pack: unknown });
  const request = { publisher: publisher.name, name: "sample-rules", version: "1.0.0" };
  await tenant.ok("POST", `${installations}:preview`, request);
  const { id, records } = await tenant.ok("POST", installations, request);
  await tenant.refused("ALREADY_EXISTS", "POST", installations, request);
  const rule = records.find(({ key }: Json) => key === "first").record_id;
  await tenant.ok("PATCH", `/api/rules/${rule}`, { priority: 9 });
  await tenant.refused("PACK_CONFLICT", "POST", `${installations}/${id}/upgrade`, {});
  await tenant.ok("PATCH", `/api/rules/${rule}`, { priority: 1 });
  for (const action of ["upgrade", "rollback", "uninstall"]) {
    await tenant.ok("POST", `${installations}/${id}/${action}`, {});
  }
  await tenant.ok("POST", `${packs}/${publisher.name}/sample-rules/versions/1.1.0/yank`, {});
  const counts = await all();
  assert.deepEqual(
    counts.map((count, at) => count - before[at]!),
    [2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
  );
});
