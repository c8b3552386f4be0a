import assert from "node:assert/strict";
import { test } from "node:test";
import { allowanceOf, limits, paceOf } from "./allowance.ts";

const idle = { all: 0, slow: 0, ofTenant: 0, ofEndpoint: 0 };

test("an endpoint, a tenant and the node each have their bound", () => {
  assert.equal(allowanceOf(idle, "quick"), limits.endpoint.quick);
  assert.equal(allowanceOf(idle, "unknown"), limits.endpoint.unknown);
  assert.equal(allowanceOf({ ...idle, ofEndpoint: limits.endpoint.quick }, "quick"), 0);
  assert.equal(allowanceOf({ ...idle, ofTenant: limits.tenant - 2 }, "quick"), 2);
  assert.equal(allowanceOf({ ...idle, all: limits.all - 1 }, "unknown"), 1);
  assert.equal(allowanceOf({ ...idle, all: limits.all }, "quick"), 0);
});

test("slow endpoints get one message at a time and leave half of the node to the others", () => {
  assert.equal(allowanceOf(idle, "slow"), 1);
  assert.equal(allowanceOf({ ...idle, ofEndpoint: 1 }, "slow"), 0);
  const crowded = { ...idle, all: limits.slow, slow: limits.slow };
  assert.equal(allowanceOf(crowded, "slow"), 0);
  assert.equal(allowanceOf(crowded, "quick"), limits.endpoint.quick);
  // It had more under way before it was found to be slow.
  assert.equal(allowanceOf({ ...idle, ofEndpoint: 8 }, "slow"), 0);
});

test("an endpoint is quick when it took its last message in good time", () => {
  assert.equal(paceOf(1999, true), "quick");
  assert.equal(paceOf(2000, true), "slow");
  assert.equal(paceOf(1, false), "slow");
});
