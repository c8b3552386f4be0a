import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findBadVersions } from "../../scripts/known-bad-versions.ts";

const lock = JSON.parse(readFileSync(join(import.meta.dirname, "../../package-lock.json"), "utf8"));

test("the lock file has no package with known faults", () => {
  assert.equal(findBadVersions(lock), undefined);
});

test("a planted bad version is found at any depth and under another name", () => {
  const planted = {
    "node_modules/@xmldom/xmldom": { version: "0.8.11" },
    "node_modules/xml-crypto/node_modules/@xmldom/xmldom": { version: "0.9.0-beta.6" },
    "node_modules/dom": { name: "@xmldom/xmldom", version: "0.8.14" },
    "node_modules/xml-crypto": { version: "6.1.2" },
  };
  const found = findBadVersions({ packages: planted });
  assert.deepEqual(
    found?.split("\n").map((line) => line.split(" ", 2).join(" ")),
    Object.entries(planted).map(([path, { version }]) => `${path} ${version}`),
  );
  assert.match(found ?? "", /node_modules\/@xmldom\/xmldom 0\.8\.11 is in .*: GHSA-965w-775f-mr7g/);
});
