import assert from "node:assert/strict";
import { test } from "node:test";
import { fanOut, isSubscribed, type Subscriber, testType } from "./fan-out.ts";

const event = (id: string, stamp: string, type = "order.paid", subject = "", inProduction: boolean | null = null) => ({
  id,
  stamp,
  type,
  subject,
  inProduction,
});
const environmentMode = "any";

test("types match exactly or by family, and an empty list matches all", () => {
  const wants = (eventTypes: string[], type: string) =>
    isSubscribed({ id: "p", eventTypes, environmentMode }, event("e", "1", type));
  assert.ok(wants([], "order.paid"));
  assert.ok(wants(["order.paid"], "order.paid"));
  assert.ok(wants(["order.*"], "order.paid") && wants(["order.*"], "order.item.added"));
  assert.ok(wants(["x.y", "order.*"], "order.paid"));
  assert.ok(!wants(["order.*"], "orders.paid") && !wants(["order.*"], "order"));
  assert.ok(!wants(["order.paid"], "order.paid.late") && !wants(["order.pai"], "order.paid"));
});

test("a test event goes only to its endpoint, regardless of the endpoint's types", () => {
  const sent = event("e", "1", testType, "mine");
  assert.ok(isSubscribed({ id: "mine", eventTypes: ["order.*"], environmentMode }, sent));
  assert.ok(!isSubscribed({ id: "other", eventTypes: [], environmentMode }, sent));
  assert.ok(!isSubscribed({ id: "other", eventTypes: ["webhook.*"], environmentMode }, sent));
});

test("an endpoint gets events of environments that its mode allows, and events without an environment", () => {
  const gets = (mode: "any" | "production_only" | "non_production_only") =>
    [true, false, null].filter((inProduction) =>
      isSubscribed(
        { id: "p", eventTypes: [], environmentMode: mode },
        event("e", "1", "pool.created", "", inProduction),
      ),
    );
  assert.deepEqual(gets("any"), [true, false, null]);
  assert.deepEqual(gets("production_only"), [true, null]);
  assert.deepEqual(gets("non_production_only"), [false, null]);
});

test("an endpoint gets events committed after its activation, regardless of when their transactions started", () => {
  // The snapshot was taken while 12 and 15 ran: all others below 20 were committed.
  const subscriber: Subscriber = {
    id: "p",
    eventTypes: [],
    environmentMode,
    sinceSnapshot: "10:20:12,15",
    sinceStamp: "19",
  };
  const events = ["9", "10", "11", "12", "15", "18", "19", "20", "21", "18446744073709551615"].map((stamp) =>
    event(stamp, stamp),
  );
  assert.deepEqual(
    fanOut(events, [subscriber]).map(({ eventId }) => eventId),
    ["12", "15", "20", "21", "18446744073709551615"],
  );
});

test("every endpoint gets its own deliveries", () => {
  const since = { sinceSnapshot: "1:1:", sinceStamp: "1" };
  const made = fanOut(
    [event("a", "5", "order.paid"), event("b", "6", "user.added")],
    [
      { id: "orders", eventTypes: ["order.*"], environmentMode, ...since },
      { id: "all", eventTypes: [], environmentMode, ...since },
      { id: "late", eventTypes: [], environmentMode, sinceSnapshot: "6:6:", sinceStamp: "3" },
    ],
  );
  assert.deepEqual(
    made.map(({ endpointId, eventId }) => `${endpointId} ${eventId}`),
    ["orders a", "all a", "all b", "late b"],
  );
});
