import assert from "node:assert/strict";
import { test } from "node:test";
import { pageBytesMax } from "../../../../platform/paging/index.ts";
import { parsePack } from "./parse-pack.ts";

test("what lists show of a pack is small, so that a page of the largest packs is not larger than other pages", () => {
  const packWith = (hosts: number, contentLength: number) => ({
    ...{ pack: 1, publisher: "acme", name: "big", kind: "rules", version: "1.0.0", title: "Big" },
    permissions: { hosts: Array.from({ length: hosts }, (_, at) => `${at}.${"x".repeat(150)}.example`) },
    contents: [{ record: "rule", key: "one", content: { name: "x".repeat(contentLength) } }],
  });
  const { pack } = parsePack(packWith(90, 500_000));
  const { contents: _, ...head } = pack!;
  assert.ok(100 * JSON.stringify(head).length < pageBytesMax);
  const { violations } = parsePack(packWith(110, 1));
  const message = "must have at most 16 KiB as JSON besides contents: shorten its texts and lists";
  assert.deepEqual(violations, [{ path: "", rule: "size", message }]);
});

test("the version of the format is checked even if the kind is unknown, and a record needs content", () => {
  const wrong = parsePack({ pack: 2, kind: "unknown" });
  assert.deepEqual(
    wrong.violations?.map(({ path }) => path),
    ["pack", "kind"],
  );
  const { violations } = parsePack({
    ...{ pack: 1, publisher: "acme", name: "empty", kind: "rules", version: "1.0.0", title: "Empty" },
    contents: [{ record: "rule", key: "one", content: null }],
  });
  const message = "must be an object: the body of the request that creates the record";
  assert.deepEqual(violations, [{ path: "contents[0].content", rule: "type", message }]);
});
