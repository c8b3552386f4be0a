import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { roleGrants } from "../../src/platform/access/index.ts";

test("the guide lists every role with its exact grants", () => {
  const guide = readFileSync(new URL("../../docs/guides/access.md", import.meta.url), "utf8");
  const section = guide.slice(guide.indexOf("\n## Roles"), guide.indexOf("\n## The internal plane"));
  const rows = section.matchAll(/^\| `([a-z_]+)` \| (.+) \|$/gm);
  const listed = Object.fromEntries(
    Array.from(rows, ([, role, grants]) => [role, Array.from(grants!.matchAll(/`([^`]+)`/g), ([, scope]) => scope)]),
  );
  assert.deepEqual(listed, roleGrants);
});
