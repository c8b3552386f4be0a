import assert from "node:assert/strict";
import { test } from "node:test";
import { deliveriesOf, isFor, type Subscriber, testType } from "./fan-out.ts";

const event = (id: string, xid: string, type = "order.paid", subject = "", inProduction: boolean | null = null) => ({
  id,
  xid,
  type,
  subject,
  inProduction,
});
const environmentMode = "any";

test("types are matched exactly or by family, and no types mean all", () => {
  const wants = (eventTypes: string[], type: string) =>
    isFor({ id: "p", eventTypes, environmentMode }, event("e", "1", type));
  assert.ok(wants([], "order.paid"));
  assert.ok(wants(["order.paid"], "order.paid"));
  assert.ok(wants(["order.*"], "order.paid") && wants(["order.*"], "order.item.added"));
  assert.ok(wants(["x.y", "order.*"], "order.paid"));
  assert.ok(!wants(["order.*"], "orders.paid") && !wants(["order.*"], "order"));
  assert.ok(!wants(["order.paid"], "order.paid.late") && !wants(["order.pai"], "order.paid"));
});

test("a test goes to the endpoint it is about, whatever types it wants, and to no other", () => {
  const sent = event("e", "1", testType, "mine");
  assert.ok(isFor({ id: "mine", eventTypes: ["order.*"], environmentMode }, sent));
  assert.ok(!isFor({ id: "other", eventTypes: [], environmentMode }, sent));
  assert.ok(!isFor({ id: "other", eventTypes: ["webhook.*"], environmentMode }, sent));
});

test("an endpoint gets the events of environments that its mode allows, and those of none", () => {
  const gets = (mode: "any" | "production_only" | "non_production_only") =>
    [true, false, null].filter((inProduction) =>
      isFor({ id: "p", eventTypes: [], environmentMode: mode }, event("e", "1", "pool.created", "", inProduction)),
    );
  assert.deepEqual(gets("any"), [true, false, null]);
  assert.deepEqual(gets("production_only"), [true, null]);
  assert.deepEqual(gets("non_production_only"), [false, null]);
});

test("an endpoint gets what was committed after it came into use, whichever began first", () => {
  // Taken while 12 and 15 ran: everything below 10 and the others below 20 were committed.
  const subscriber: Subscriber = {
    id: "p",
    eventTypes: [],
    environmentMode,
    sinceSnapshot: "10:20:12,15",
    sinceXid: "19",
  };
  const events = ["9", "10", "11", "12", "15", "18", "19", "20", "21", "18446744073709551615"].map((xid) =>
    event(xid, xid),
  );
  assert.deepEqual(
    deliveriesOf(events, [subscriber]).map(({ eventId }) => eventId),
    ["12", "15", "20", "21", "18446744073709551615"],
  );
});

test("every endpoint gets its own", () => {
  const since = { sinceSnapshot: "1:1:", sinceXid: "1" };
  const made = deliveriesOf(
    [event("a", "5", "order.paid"), event("b", "6", "user.added")],
    [
      { id: "orders", eventTypes: ["order.*"], environmentMode, ...since },
      { id: "all", eventTypes: [], environmentMode, ...since },
      { id: "late", eventTypes: [], environmentMode, sinceSnapshot: "6:6:", sinceXid: "3" },
    ],
  );
  assert.deepEqual(
    made.map(({ endpointId, eventId }) => `${endpointId} ${eventId}`),
    ["orders a", "all a", "all b", "late b"],
  );
});
