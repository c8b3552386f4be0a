import assert from "node:assert/strict";
import { test } from "node:test";
import { ShapeCache } from "./shape-cache.ts";
import { Shape } from "./statement.ts";

const site = ["select * from ", " where ", " = ", ""];
const name = (n: number) => `"name_${n}"`;

/** The shape of a statement with three names, and whether it was cached. */
function find(cache: ShapeCache<Shape>, names: readonly string[]): { shape: Shape; isKnown: boolean } {
  let node = cache.rootOf(site);
  for (const [i, token] of names.entries()) node = cache.next(node, i, token);
  if (node.shape !== undefined) return { shape: node.shape, isKnown: true };
  const shape = new Shape(
    names.reduce((text, each, i) => text + each + site[i + 1]!, site[0]!),
    [],
  );
  cache.keep(node, shape);
  return { shape, isKnown: false };
}

test("a hostile number of shapes does not fill the memory, and each is still right", () => {
  const bytesMax = 500_000;
  const cache = new ShapeCache<Shape>(bytesMax);
  let hits = 0;
  for (let i = 0; i < 60_000; i++) {
    // No node has many edges; all nodes together have as many as there are statements.
    const names = [name(i % 40), name(Math.trunc(i / 40) % 40), name(Math.trunc(i / 1600) % 40)];
    assert.equal(find(cache, names).shape.text, `select * from ${names[0]} where ${names[1]} = ${names[2]}`);
    if (find(cache, [name(1), name(2), name(3)]).isKnown) hits++;
    assert.ok(cache.bytes <= bytesMax);
  }
  assert.ok(hits > 59_000, `a statement that is run all the time was found ${hits} times`);
});

test("a node with too many edges forgets them, and its neighbours do not", () => {
  const cache = new ShapeCache<Shape>(10_000_000);
  find(cache, [name(1), name(1), name(1)]);
  for (let i = 0; i < 1000; i++) find(cache, [name(2), name(i), name(1)]);
  assert.equal(find(cache, [name(2), name(0), name(1)]).isKnown, false);
  assert.equal(find(cache, [name(1), name(1), name(1)]).isKnown, true);
});
