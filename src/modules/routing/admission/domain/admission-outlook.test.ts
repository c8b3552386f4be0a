import assert from "node:assert/strict";
import { test } from "node:test";
import { createAdmissionOutlook } from "./admission-outlook.ts";

const pool = new Set(["one"]);
const both = new Set(["one", "other"]);

test("a pool whose items keep failing is tried ever more rarely, and always again once they pass", () => {
  const outlook = createAdmissionOutlook();
  const triesIn = (times: number) => {
    let tries = 0;
    for (let n = 0; n < times; n++) {
      if (!outlook.isFair(pool)) continue;
      tries++;
      outlook.failed(pool);
    }
    return tries;
  };
  assert.equal(triesIn(1000), 6 + Math.floor((1000 - 130) / 65) + 1);
  while (!outlook.isFair(pool));
  outlook.passed(pool);
  assert.equal(outlook.isFair(pool), true);
  assert.equal(outlook.isFair(pool), true);
});

test("a pool that fails holds back nobody but those who travel with it", () => {
  const outlook = createAdmissionOutlook();
  outlook.failed(pool);
  assert.equal(outlook.isFair(new Set(["other"])), true);
  assert.equal(outlook.isFair(both), false);
});
