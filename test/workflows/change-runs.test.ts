import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let own: TenantFixture;
let foreign: TenantFixture;
before(async () => {
  const service = await startService();
  [own, foreign] = [await newTenant(service), await newTenant(service)];
});

const path = "/api/workflow-runs:change";

/** Publishes a definition that waits for the event `go`; returns its key. */
async function publish(tenant = own): Promise<string> {
  const key = freshName();
  const wait = { id: "wait", wait_event: { event: "go", scope: "s", timeout: "1h" } };
  const { id } = (
    await tenant.ok("POST", "/api/workflow-definitions", {
      document: { dsl: "1", key, timeout: "1h", steps: [wait] },
    })
  ).data;
  await tenant.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  return key;
}

async function start(definition: string, count: number, more: object = {}, tenant = own): Promise<string[]> {
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    ids.push((await tenant.ok("POST", "/api/workflow-runs", { definition, ...more })).data.run.id);
  }
  return ids;
}

const change = async (body: object, headers = {}): Promise<ResponseData> =>
  (await own.ok("POST", path, body, headers)).data;
const statuses = (ids: readonly string[], tenant = own) =>
  Promise.all(ids.map(async (id) => (await tenant.ok("GET", `/api/workflow-runs/${id}`)).data.status));

test("the runs that match are cancelled, paused and resumed, and no others", async () => {
  const [chosen, other] = [await publish(), await publish()];
  const [ids, [beside]] = [await start(chosen, 3), (await start(other, 1)) as [string]];
  const [theirs] = (await start(await publish(foreign), 1, {}, foreign)) as [string];
  const counts = (changed_count: number, unchanged_count = 0) => ({
    changed_count,
    unchanged_count,
    refused: [],
    next: "",
  });
  assert.deepEqual(await change({ action: "pause", definition_id: chosen, reason: "check" }), counts(3));
  assert.deepEqual(await statuses(ids), ["paused", "paused", "paused"]);
  assert.deepEqual(await change({ action: "pause", definition_id: chosen }), counts(0, 3));
  assert.deepEqual(await change({ action: "resume", definition_id: chosen, status: "paused" }), counts(3));
  const until = { created_before: new Date(Date.now() - 60_000).toISOString() };
  assert.deepEqual(await change({ action: "cancel", definition_id: chosen, ...until }), counts(0));
  assert.deepEqual(await change({ action: "cancel", definition_id: chosen, version: 2 }), counts(0));
  assert.deepEqual(
    await change({ action: "cancel", definition_id: chosen, version: 1, reason: "recalled" }),
    counts(3),
  );
  assert.deepEqual(await statuses(ids), ["cancelled", "cancelled", "cancelled"]);
  assert.deepEqual([await statuses([beside]), await statuses([theirs], foreign)], [["waiting"], ["waiting"]]);
});

test("runs are found and changed by their attributes, and replays keep them", async () => {
  const definition = await publish();
  const [acme] = (await start(definition, 1, { attributes: { customer: "acme", note: "a=b" } })) as [string];
  const [zenith] = (await start(definition, 1, { attributes: { customer: "zenith", note: "a=b" } })) as [string];
  const find = async (...attributes: string[]) => {
    const query = new URLSearchParams({ definition_id: definition });
    for (const each of attributes) query.append("attributes", each);
    const { data } = await own.ok("GET", `/api/workflow-runs?${query}`);
    return new Set((data as unknown as { id: string }[]).map(({ id }) => id));
  };
  assert.deepEqual(await find("note=a=b"), new Set([acme, zenith]));
  assert.deepEqual(await find("note=a=b", "customer=acme"), new Set([acme]));
  assert.deepEqual(await find("note=a"), new Set());
  assert.equal((await change({ action: "cancel", attributes: ["customer=acme"] })).changed_count, 1);
  assert.deepEqual(await statuses([acme, zenith]), ["cancelled", "waiting"]);
  const replay = await own.ok("POST", `/api/workflow-runs/${acme}/replay`, { from_step: "" });
  assert.deepEqual(replay.data.run.attributes, { customer: "acme", note: "a=b" });
  assert.deepEqual(await find("customer=acme"), new Set([acme, replay.data.run.id]));
  const refused = (attributes: object) =>
    own.refused("INVALID_ARGUMENT", "POST", "/api/workflow-runs", { definition, attributes });
  await refused({ "not a name": "x" });
  await refused(Object.fromEntries(Array.from({ length: 21 }, (_, nth) => [`a${nth}`, "x"])));
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "cancel", attributes: ["customer"] });
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "cancel", attributes: ["customer=a", "customer=b"] });
});

test("each run gets an event once, however often the call is repeated", async () => {
  const definition = await publish();
  const ids = await start(definition, 3);
  const body = { action: "signal", definition_id: definition, signal: { event: "note", payload: 1 } };
  const headers = { "idempotency-key": freshName() };
  const first = await change(body, headers);
  assert.equal(first.changed_count, 3);
  assert.deepEqual(await change(body, headers), first);
  for (const id of ids) assert.equal((await own.ok("GET", `/api/workflow-runs/${id}`)).data.revision, 2);
  const named = { ...body, signal: { event: "note", event_id: "n1" } };
  assert.equal((await change(named)).changed_count, 3);
  assert.deepEqual([(await change(named)).changed_count, (await change(named)).unchanged_count], [0, 3]);
  await change({ ...body, signal: { event: "go", scope: "s" } });
  assert.deepEqual(await statuses(ids), ["succeeded", "succeeded", "succeeded"]);
});

test("a call changes at most as many runs as it says, and the next one continues", async () => {
  const definition = await publish();
  const ids = await start(definition, 5);
  const body = { action: "cancel", definition_id: definition, max_items: 2 };
  const sizes: number[] = [];
  let after = "";
  do {
    const result = await change({ ...body, after });
    sizes.push(result.changed_count);
    after = result.next;
  } while (after !== "");
  assert.deepEqual(sizes, [2, 2, 1]);
  assert.deepEqual(new Set(await statuses(ids)), new Set(["cancelled"]));
});

test("a call without a filter, with a version of no definition or without its event is refused", async () => {
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "cancel" });
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "cancel", status: "waiting", version: 1 });
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "signal", status: "waiting" });
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "delete", status: "waiting" });
  const large = { event: "e", payload: "x".repeat(65_536) };
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "signal", status: "waiting", signal: large });
});

test("a caller of one kind of environment changes no runs of another", async () => {
  const definition = await publish();
  const sandbox = (await own.ok("POST", "/api/v2/environments", { key: "sandbox-b", name: "b" })).data.id;
  const [[live], [tried]] = [await start(definition, 1), await start(definition, 1, { environment_id: sandbox })];
  const confined = await own.caller({ roles: ["operator"], environment_mode: "production_only" });
  const { body } = await confined.call("POST", path, { action: "cancel", definition_id: definition });
  assert.equal(body.data.changed_count, 1);
  assert.deepEqual(await statuses([live!, tried!]), ["cancelled", "waiting"]);
});

/** Publishes a definition whose runs fail at their second step; returns its key. */
async function publishFailing(): Promise<string> {
  const key = freshName();
  const steps = [
    { id: "kept", transform: "=input" },
    {
      id: "check",
      branch: [{ when: "=input == 'bad'", steps: [{ id: "stop", fail: { code: "bad", message: "no" } }] }],
    },
  ];
  const { id } = (
    await own.ok("POST", "/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps } })
  ).data;
  await own.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  return key;
}

const replaysOf = async (definition: string): Promise<ResponseData[]> =>
  (
    (await own.ok("GET", `/api/workflow-runs?definition_id=${definition}&limit=100`)).data as unknown as ResponseData[]
  ).filter(({ replay_of_run_id }) => replay_of_run_id !== "");

test("failed runs that match are replayed once, however often the call is repeated, and no others", async () => {
  const definition = await publishFailing();
  const [acme, zenith] = [{ attributes: { customer: "acme" } }, { attributes: { customer: "zenith" } }];
  const ids = await start(definition, 3, { input: "bad", ...acme });
  await start(definition, 2, { input: "good", ...acme });
  await start(definition, 1, { input: "bad", ...zenith });
  const body = { action: "replay", definition_id: definition, attributes: ["customer=acme"], reason: "repaired" };
  const headers = { "idempotency-key": freshName() };
  const first = await change(body, headers);
  assert.deepEqual([first.changed_count, first.unchanged_count, first.refused], [3, 0, []]);
  assert.deepEqual(await change(body, headers), first);
  const replays = await replaysOf(definition);
  assert.deepEqual(new Set(replays.map(({ replay_of_run_id }) => replay_of_run_id)), new Set(ids));
  assert.deepEqual(
    replays.map(({ attributes, status }) => [attributes.customer, status]),
    Array.from({ length: 3 }, () => ["acme", "failed"]),
  );
  const letter = (await own.ok("GET", `/api/workflow-dlq/${ids[0]}`)).data;
  assert.deepEqual([letter.state, letter.replay_count], ["open", 1]);
  // Each replay has failed and opened its letter again, until it has been replayed three times.
  const from = { replay: { from: "start" } };
  assert.equal((await change({ ...body, status: "failed", ...from })).changed_count, 3);
  assert.deepEqual(
    [(await change({ ...body, max_items: 2 })).changed_count, (await change(body)).changed_count],
    [2, 1],
  );
  assert.equal((await change(body)).changed_count, 0);
  assert.equal((await replaysOf(definition)).length, 9);
});

test("a run whose key is in use, or which somebody has quarantined, is not replayed with the others", async () => {
  const definition = await publishFailing();
  const [taken] = (await start(definition, 1, { input: "bad", run_key: "k" })) as [string];
  const [aside, free] = (await start(definition, 2, { input: "bad" })) as [string, string];
  await own.ok("POST", `/api/workflow-dlq/${aside}/quarantine`, { reason: "r" });
  const later = { start_at: new Date(Date.now() + 3_600_000).toISOString() };
  await start(definition, 1, { input: "good", run_key: "k", ...later });
  const { changed_count, unchanged_count, refused } = await change({ action: "replay", definition_id: definition });
  assert.deepEqual([changed_count, unchanged_count], [1, 0]);
  assert.deepEqual(
    refused.map(({ run_id, error_code }: ResponseData) => [run_id, error_code]),
    [[taken, "CONFLICT"]],
  );
  assert.deepEqual(
    (await replaysOf(definition)).map(({ replay_of_run_id }) => replay_of_run_id),
    [free],
  );
});

test("only replays name the status of an ended run, and no other change does", async () => {
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "replay", status: "waiting" });
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "cancel", status: "failed" });
  await own.refused("INVALID_ARGUMENT", "POST", path, { action: "replay" });
});
