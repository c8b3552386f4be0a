import assert from "node:assert/strict";
import { test } from "node:test";
import { availableSlots, limits, paceOf } from "./allowance.ts";

const idle = { all: 0, slow: 0, ofTenant: 0, ofEndpoint: 0 };

test("sends are limited per endpoint, per tenant and per node", () => {
  assert.equal(availableSlots(idle, "quick"), limits.endpoint.quick);
  assert.equal(availableSlots(idle, "unknown"), limits.endpoint.unknown);
  assert.equal(availableSlots({ ...idle, ofEndpoint: limits.endpoint.quick }, "quick"), 0);
  assert.equal(availableSlots({ ...idle, ofTenant: limits.tenant - 2 }, "quick"), 2);
  assert.equal(availableSlots({ ...idle, all: limits.all - 1 }, "unknown"), 1);
  assert.equal(availableSlots({ ...idle, all: limits.all }, "quick"), 0);
});

test("slow endpoints get one message at a time and leave half of the node's slots to the others", () => {
  assert.equal(availableSlots(idle, "slow"), 1);
  assert.equal(availableSlots({ ...idle, ofEndpoint: 1 }, "slow"), 0);
  const crowded = { ...idle, all: limits.slow, slow: limits.slow };
  assert.equal(availableSlots(crowded, "slow"), 0);
  assert.equal(availableSlots(crowded, "quick"), limits.endpoint.quick);
  // It had more concurrent sends before it became slow.
  assert.equal(availableSlots({ ...idle, ofEndpoint: 8 }, "slow"), 0);
});

test("an endpoint is quick if it accepted its last message in time", () => {
  assert.equal(paceOf(1999, true), "quick");
  assert.equal(paceOf(2000, true), "slow");
  assert.equal(paceOf(1, false), "slow");
});
