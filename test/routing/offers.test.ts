import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture, tenantAt } from "./tenant-fixture.ts";

let database: TestDatabase;
let service: TestService;
let own: TenantFixture;
/** The same tenant on a node in a process of its own. */
let elsewhere: TenantFixture;
let other: Awaited<ReturnType<typeof startNodeProcess>>;
before(async () => {
  database = await freshDatabase();
  const settings = { "auth.bootstrap_api_key": "sk_test_offers_0123456789abcdef" };
  [service, other] = await Promise.all([
    startService(settings, database.url),
    startNodeProcess({ ...settings, "database.url": database.url }),
  ]);
  own = await newTenant(service);
  elsewhere = tenantAt(other, own);
});
after(async () => {
  await other.kill();
  await service.stop();
  await database.drop();
});

const long = { timeout_s: 3600, reoffer_after_s: 3600 };
/** An offer that expires within a test, after the calls that come before. */
const short = { timeout_s: 5, reoffer_after_s: 3600 };

/** A pool that offers its items to recipients in the order of their priority. */
function offeringPool(reservation: object = long, more: object = {}): Promise<string> {
  return own.pool({ strategy: "priority", config: { reservation, ...more } });
}

/** Adds recipients that are asked in this order. */
async function recipientsOf(pool: string, count: number, fields: object = {}): Promise<string[]> {
  const ids = [];
  for (let priority = 0; priority < count; priority++) ids.push(await own.recipient(pool, { priority, ...fields }));
  return ids;
}

const listOffers = async (pool: string, recipient = "", tenant = own): Promise<ResponseData[]> =>
  (await tenant.ok("GET", `/api/queues/${pool}/offers?recipient_id=${recipient}`)).data;

/** Waits for the open offer of an item; returns it. */
async function offerOf(pool: string, id: string, to?: string, tenant = own): Promise<ResponseData> {
  const offers = await until(
    async () => (await listOffers(pool, "", tenant)).filter(({ queue_item_id }) => queue_item_id === id),
    ([offer]) => offer !== undefined && (to === undefined || offer.recipient_id === to),
  );
  return offers[0];
}

const answerOf = ({ recipient_id, offer_number }: ResponseData) => ({ recipient_id, offer_number });
const pathOf = ({ pool_id, queue_item_id }: ResponseData, verb: string) =>
  `/api/queues/${pool_id}/items/${queue_item_id}/${verb}`;

const accept = async (offer: ResponseData, fields: object = {}, tenant = own): Promise<ResponseData> =>
  (await tenant.ok("POST", pathOf(offer, "accept"), { ...answerOf(offer), ...fields })).data;

const decline = async (offer: ResponseData, fields: object = {}): Promise<ResponseData> =>
  (await own.ok("POST", pathOf(offer, "decline"), { ...answerOf(offer), ...fields })).data;

const statesOf = ({ offers }: ResponseData) =>
  offers.map(({ recipient_id, state }: ResponseData) => [recipient_id, state]);

const eventsOf = async (id: string): Promise<ResponseData[]> =>
  (await own.ok("GET", `/api/events?types=queue.item.*&subject=${id}`)).data;

test("an accepted offer becomes a lease with a token, and completes like any other", async () => {
  const pool = await offeringPool();
  const [ada, bob] = await recipientsOf(pool, 2);
  const { queue_item_id: id, outcome, recipient_id } = await own.route(pool, { payload: { n: 1 } });
  assert.deepEqual([outcome, recipient_id], ["routed", ada]);
  assert.deepEqual(await listOffers(pool, bob), []);
  const [offer] = await listOffers(pool, ada, elsewhere);
  assert.deepEqual([offer.queue_item_id, offer.offer_number, offer.payload, offer.attempt], [id, 1, { n: 1 }, 0]);
  assert.ok(Date.parse(offer.expires_at) > Date.now() + 3_000_000);
  // Nobody works on it yet, not even its recipient.
  assert.deepEqual(await own.lease(pool, { recipient_id: ada }), []);
  const waiting = await own.item(pool, id);
  assert.deepEqual([waiting.state, waiting.hold_reason, waiting.recipient_id], ["held", "offer", ada]);

  const leased = await accept(offer, { lease_s: 600 }, elsewhere);
  assert.deepEqual([leased.queue_item_id, leased.recipient_id, leased.attempt], [id, ada, 1]);
  assert.ok(Date.parse(leased.lease_expires_at) > Date.now() + 500_000);
  assert.deepEqual(await listOffers(pool), []);
  // A repeated call gets the same lease.
  assert.equal((await accept(offer)).lease_token, leased.lease_token);
  assert.equal((await own.complete(leased)).state, "completed");
  const { data: decision } = await own.ok("GET", `/api/decisions/${id}`);
  assert.deepEqual(statesOf(decision), [[ada, "accepted"]]);
  await own.refused("OFFER_LOST", "POST", pathOf(offer, "accept"), answerOf(offer));
  const types = (await eventsOf(id)).map(({ type }) => type);
  assert.deepEqual(types.toSorted(), ["queue.item.offer_accepted", "queue.item.offered"]);
});

test("a declined offer goes to the next recipient, uses up no attempt, and is visible everywhere", async () => {
  const pool = await offeringPool();
  const [ada, bob] = await recipientsOf(pool, 3);
  const { queue_item_id: id } = await own.route(pool);
  const first = await offerOf(pool, id, ada);
  const why = { reason_code: "lunch_break", reason: "back at two" };
  const declined = await decline(first, why);
  assert.deepEqual([declined.state, declined.reason_code, declined.reason], ["declined", "lunch_break", "back at two"]);
  assert.ok(declined.ended_by !== "");
  // A repeated call gets the same response; other answers are too late.
  assert.deepEqual(await decline(first, why), declined);
  await own.refused("OFFER_LOST", "POST", pathOf(first, "accept"), answerOf(first));

  const second = await offerOf(pool, id, bob);
  assert.equal(second.offer_number, 2);
  const answers = { recipient_id: ada, offer_number: 2 };
  await own.refused("OFFER_LOST", "POST", pathOf(first, "accept"), answers);
  await own.refused("OFFER_LOST", "POST", pathOf(first, "decline"), answers);
  for (const { offers } of [await own.item(pool, id), (await own.ok("GET", `/api/decisions/${id}`)).data]) {
    assert.deepEqual(statesOf({ offers }), [
      [ada, "declined"],
      [bob, "open"],
    ]);
    assert.equal(offers[0].reason, "back at two");
  }
  const { steps, waits } = (await own.ok("GET", `/api/explain/${id}`)).data;
  const step = steps.find(({ code }: ResponseData) => code === "offer_declined");
  assert.equal(step.subject, ada);
  assert.match(step.message, /^Offer 1 to the recipient \w+ was declined: lunch_break, back at two\.$/);
  assert.equal(waits[0].code, "offer");
  const { data } = (await eventsOf(id)).find(({ type }) => type === "queue.item.offer_declined");
  assert.deepEqual(data, { pool_id: pool, recipient_id: ada, offer_number: 1, ...why });
  assert.equal((await accept(second)).attempt, 1);
});

test("an offer without an answer expires and goes to the next recipient, and cannot be accepted any more", async () => {
  const pool = await offeringPool(short);
  const [ada, bob] = await recipientsOf(pool, 2);
  const { queue_item_id: id } = await own.route(pool);
  const first = { pool_id: pool, queue_item_id: id, recipient_id: ada, offer_number: 1 };
  const second = await offerOf(pool, id, bob);
  await own.refused("OFFER_LOST", "POST", pathOf(first, "accept"), answerOf(first));
  assert.equal((await accept(second)).attempt, 1);
  assert.deepEqual(statesOf(await own.item(pool, id)), [
    [ada, "expired"],
    [bob, "accepted"],
  ]);
  assert.ok((await eventsOf(id)).some(({ type }) => type === "queue.item.offer_expired"));
});

test("an item returns to those who refused it only when nobody else remains, and after the wait", async () => {
  const pool = await offeringPool({ timeout_s: 3600, reoffer_after_s: 1 });
  const [ada, bob] = await recipientsOf(pool, 2, { capacity: 1 });
  const { queue_item_id: busy } = await own.route(pool, { requirements: { recipient_id: bob } });
  const held = await accept(await offerOf(pool, busy, bob));
  const { queue_item_id: id } = await own.route(pool);
  await decline(await offerOf(pool, id, ada));
  // The other one is at its capacity: the item waits for it.
  const { assignment } = await until(
    () => own.item(pool, id),
    (item) => item.assignment !== undefined,
  );
  assert.equal(assignment.reason, "all_at_capacity");
  await own.complete(held);
  await decline(await offerOf(pool, id, bob));
  const again = await offerOf(pool, id);
  assert.deepEqual([again.recipient_id, again.offer_number], [ada, 3]);
  assert.deepEqual(statesOf(await own.item(pool, id)), [
    [ada, "declined"],
    [bob, "declined"],
    [ada, "open"],
  ]);
  // Answers to the first offer are no answers to the third one, although both were made to the same recipient.
  const first = { ...again, offer_number: 1 };
  await own.refused("OFFER_LOST", "POST", pathOf(first, "accept"), answerOf(first));
  assert.equal((await decline(first)).offer_number, 1);
  assert.equal((await accept(again)).attempt, 1);
});

test("an item that everyone refused is offered at once to a recipient that is added", async () => {
  const pool = await offeringPool();
  const [ada] = await recipientsOf(pool, 1);
  const { queue_item_id: id } = await own.route(pool);
  await decline(await offerOf(pool, id, ada));
  const { assignment } = await until(
    () => own.item(pool, id),
    (item) => item.assignment !== undefined,
  );
  assert.equal(assignment.reason, "all_refused");
  const bob = await own.recipient(pool, { priority: 5 });
  assert.equal((await offerOf(pool, id, bob)).offer_number, 2);
});

test("an open offer counts towards the capacity of its recipient", async () => {
  const pool = await offeringPool();
  const [ada] = await recipientsOf(pool, 1, { capacity: 2 });
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push((await own.route(pool)).queue_item_id);
  const offers = await listOffers(pool, ada);
  assert.deepEqual(
    offers.map(({ queue_item_id }) => queue_item_id),
    ids.slice(0, 2),
  );
  const [leased] = await Promise.all(offers.map((offer) => accept(offer)));
  assert.deepEqual(await listOffers(pool), []);
  await own.complete(leased);
  await accept(await offerOf(pool, ids[2], ada));
});

test("of many answers to one offer on two nodes exactly one counts", async () => {
  const pool = await offeringPool();
  await recipientsOf(pool, 1);
  for (let round = 0; round < 10; round++) {
    const { queue_item_id: id } = await own.route(pool);
    const offer = await offerOf(pool, id);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        (n % 2 === 0 ? own : elsewhere).rest.call("POST", pathOf(offer, n < 6 ? "accept" : "decline"), answerOf(offer)),
      ),
    );
    const tokens = new Set(answers.flatMap(({ body }) => body.data?.lease_token ?? []));
    const hasDeclined = answers.some(({ body }) => body.data?.state === "declined");
    assert.equal(tokens.size + Number(hasDeclined), 1);
    for (const { status, body, text } of answers) assert.ok(status === 200 || body.errorCode === "OFFER_LOST", text);
    const { state, offers } = await own.item(pool, id);
    assert.deepEqual([state === "leased", offers[0].state], hasDeclined ? [false, "declined"] : [true, "accepted"]);
  }
});

test("a paused queue accepts no offer, and an offer that expires meanwhile is no refusal", async () => {
  const pool = await offeringPool(short);
  const [ada] = await recipientsOf(pool, 1);
  const { queue_item_id: id } = await own.route(pool);
  await own.ok("POST", `/api/queues/${pool}/pause`, {});
  const offer = { pool_id: pool, queue_item_id: id, recipient_id: ada, offer_number: 1 };
  await own.refused("FAILED_PRECONDITION", "POST", pathOf(offer, "accept"), answerOf(offer));
  await own.itemIn(pool, id, "ready");
  await own.ok("POST", `/api/queues/${pool}/resume`, {});
  await accept(await offerOf(pool, id, ada));
  assert.deepEqual(statesOf(await own.item(pool, id)), [
    [ada, "withdrawn"],
    [ada, "accepted"],
  ]);
});

test("a paused queue makes no offers; it makes them when it is resumed", async () => {
  const pool = await offeringPool(long, { item_events: true });
  const [ada] = await recipientsOf(pool, 1, { capacity: 1 });
  await own.ok("POST", `/api/queues/${pool}/pause`, {});
  const { queue_item_id: id } = await own.route(pool);
  const { state, recipient_id, offers } = await own.item(pool, id);
  assert.deepEqual([state, recipient_id, offers], ["ready", "", []]);
  await own.refused("FAILED_PRECONDITION", "POST", `/api/queues/${pool}/items/${id}/assign`, { recipient_id: ada });
  assert.deepEqual(await eventsOf(id), []);
  await own.ok("POST", `/api/queues/${pool}/resume`, {});
  assert.equal((await offerOf(pool, id, ada)).offer_number, 1);
});

test("the acceptance of an earlier offer does not get the lease of a later one", async () => {
  const pool = await offeringPool();
  const [ada] = await recipientsOf(pool, 1);
  const { queue_item_id: id } = await own.route(pool);
  const first = await offerOf(pool, id, ada);
  await accept(first);
  // A released item has used up no attempt, so that both leases have the same number.
  await own.ok("POST", pathOf(first, "release"), {});
  const second = await offerOf(pool, id, ada);
  assert.deepEqual([second.offer_number, (await accept(second)).attempt], [2, 1]);
  await own.refused("OFFER_LOST", "POST", pathOf(first, "accept"), answerOf(first));
});

test("an offer of an item that ends is withdrawn", async () => {
  const pool = await offeringPool();
  const [ada] = await recipientsOf(pool, 1);
  const { queue_item_id: cancelled } = await own.route(pool);
  const { queue_item_id: drained } = await own.route(pool);
  await own.ok("POST", `/api/queues/${pool}/items/${cancelled}/cancel`, {});
  await own.ok("POST", `/api/queues/${pool}/drain`, { max_items: 1 });
  for (const id of [cancelled, drained]) {
    assert.deepEqual(statesOf(await own.item(pool, id)), [[ada, "withdrawn"]]);
    assert.deepEqual(statesOf((await own.ok("GET", `/api/decisions/${id}`)).data), [[ada, "withdrawn"]]);
  }
});

test("an acceptance respects the pool's limits and the recipient's current capacity", async () => {
  const concurrency = { key: "'all'", limit: 1 };
  const pool = await offeringPool(long, { admission: { concurrency } });
  const [ada] = await recipientsOf(pool, 1);
  const ids = [(await own.route(pool)).queue_item_id, (await own.route(pool)).queue_item_id];
  const leased = await accept(await offerOf(pool, ids[0], ada));
  const offer = await offerOf(pool, ids[1], ada);
  const refusal = await own.refused("ROUTING_FAILED", "POST", pathOf(offer, "accept"), answerOf(offer));
  assert.ok(Number(refusal.headers.get("retry-after")) >= 1);
  await own.complete(leased);
  await own.complete(await accept(offer));

  const bounded = await offeringPool();
  const [bob] = await recipientsOf(bounded, 1, { capacity: 2 });
  const [one, two] = [await own.route(bounded), await own.route(bounded)];
  await own.ok("PATCH", `/api/recipients/${bob}`, { capacity: 1 });
  await accept(await offerOf(bounded, one.queue_item_id, bob));
  const late = await offerOf(bounded, two.queue_item_id, bob);
  await own.refused("FAILED_PRECONDITION", "POST", pathOf(late, "accept"), answerOf(late));
  assert.equal((await decline(late)).state, "declined");
});

test("an assignment by an operator is an offer, and withdraws the one to another recipient", async () => {
  const pool = await own.pool({ strategy: "manual", config: { reservation: long } });
  const [ada, bob] = await recipientsOf(pool, 2);
  const { queue_item_id: id } = await own.route(pool);
  const assign = (recipient_id: string) => own.ok("POST", `/api/queues/${pool}/items/${id}/assign`, { recipient_id });
  await assign(ada!);
  await assign(bob!);
  const offer = await offerOf(pool, id, bob);
  assert.equal(offer.offer_number, 2);
  await decline(offer);
  const { state, recipient_id, ...item } = await own.item(pool, id);
  assert.deepEqual([state, recipient_id], ["ready", ""]);
  assert.deepEqual(statesOf(item as ResponseData), [
    [ada, "withdrawn"],
    [bob, "declined"],
  ]);
  const later = await own.route(pool, { not_before: "2100-01-01T00:00:00Z" });
  await own.refused("FAILED_PRECONDITION", "POST", `/api/queues/${pool}/items/${later.queue_item_id}/assign`, {
    recipient_id: ada,
  });
});

test("an assignment without an offer withdraws the open one, and the item can be leased at once", async () => {
  const pool = await offeringPool();
  const [ada, bob] = await recipientsOf(pool, 2);
  const { queue_item_id: id } = await own.route(pool);
  const offer = await offerOf(pool, id, ada);
  await own.ok("PATCH", `/api/pools/${pool}`, { reset_config: ["reservation"] });
  const { data } = await own.ok("POST", `/api/queues/${pool}/items/${id}/assign`, { recipient_id: bob });
  assert.deepEqual([data.state, data.hold_reason, data.recipient_id], ["ready", "", bob]);
  assert.deepEqual(statesOf(data), [[ada, "withdrawn"]]);
  await own.refused("OFFER_LOST", "POST", pathOf(offer, "accept"), answerOf(offer));
  assert.equal((await own.leaseOne(pool, { recipient_id: bob })).queue_item_id, id);
});

test("an item that must wait is offered when it is due", async () => {
  const pool = await offeringPool();
  const [ada] = await recipientsOf(pool, 1);
  // Long enough to look for an offer before that time, even on a busy machine.
  const not_before = new Date(Date.now() + 4000).toISOString();
  const { queue_item_id: id } = await own.route(pool, { not_before });
  assert.deepEqual(await listOffers(pool), []);
  const offer = await offerOf(pool, id, ada);
  assert.ok(Date.parse(offer.offered_at) >= Date.parse(not_before));
});

test("a pool with reservations hands out nothing without an answer, and first_accept has none", async () => {
  const pool = await offeringPool();
  await own.refused("RECIPIENT_REQUIRED", "POST", `/api/queues/${pool}/lease`, {});
  const invalid = { name: "x", strategy: "first_accept", config: { reservation: {} } };
  const { body } = await own.refused("INVALID_ARGUMENT", "POST", "/api/pools", invalid);
  assert.equal(body.violations[0].field, "config.reservation");
  await own.refused("INVALID_ARGUMENT", "PATCH", `/api/pools/${pool}`, { strategy: "first_accept" });
});

test("a list of offers that waits returns the next one, on every node and however it is made", async () => {
  const pool = await offeringPool();
  const [ada, bob] = await recipientsOf(pool, 2);
  const next = async (recipient: string, tenant = own, wait_s = 20): Promise<ResponseData[]> =>
    (await tenant.ok("GET", `/api/queues/${pool}/offers?recipient_id=${recipient}&wait_s=${wait_s}`)).data;
  const summary = (offers: ResponseData[]) => offers.map((each) => [each.recipient_id, each.offer_number]);
  // An offer is made when the item arrives, when the previous recipient declines it, and when an operator assigns it.
  const waits = [next(ada!), next(ada!, elsewhere), next("", elsewhere)];
  const bobs = next(bob!, elsewhere);
  const { queue_item_id: id } = await own.route(pool);
  for (const wait of waits) assert.deepEqual(summary(await wait), [[ada, 1]]);
  await decline(await offerOf(pool, id, ada));
  assert.deepEqual(summary(await bobs), [[bob, 2]]);
  const again = next(ada!, elsewhere);
  await own.ok("POST", `/api/queues/${pool}/items/${id}/assign`, { recipient_id: ada });
  assert.deepEqual(summary(await again), [[ada, 3]]);
  // Open offers are returned without a wait, and a wait without an offer ends.
  assert.deepEqual(summary(await next(ada!)), [[ada, 3]]);
  assert.deepEqual(await next(bob!, own, 1), []);
  await own.refused("INVALID_ARGUMENT", "GET", `/api/queues/${pool}/offers?wait_s=21`);
});

// The last test: it ends the other node.
test("offers of a node that is killed stay open, can be accepted elsewhere, and expire once", async () => {
  const pool = await offeringPool(short);
  const [ada, bob] = await recipientsOf(pool, 2);
  const routed = await elsewhere.routeAll(Array.from({ length: 40 }, () => ({ pool_id: pool, type: "t" })));
  await other.kill();
  const ids: string[] = routed.map(({ decision }) => decision.queue_item_id);
  const offers = (await listOffers(pool, ada)).slice(0, 20);
  assert.equal(offers.length, 20);
  const taken = new Set((await Promise.all(offers.map((offer) => accept(offer)))).map((item) => item.queue_item_id));
  assert.equal(taken.size, 20);
  await until(
    () => listOffers(pool, bob),
    ({ length }) => length === 20,
  );
  const left = await Promise.all(ids.filter((each) => !taken.has(each)).map((id) => own.item(pool, id)));
  for (const item of left) {
    assert.deepEqual(statesOf(item), [
      [ada, "expired"],
      [bob, "open"],
    ]);
  }
});
