import assert from "node:assert/strict";
import { test } from "node:test";
import type { SampledOperation, SampleValues } from "./sampled-operation.ts";
import { writeSample } from "./samples.ts";

const operation: SampledOperation = {
  ...{ verb: "POST", path: "/api/pools/{pool_id}/items", body: "*", result: "json" },
  ...{ command: "item create", call: "items.create" },
};
const values: SampleValues = {
  path: { pool_id: "a/b" },
  query: {},
  body: { name: "Ada's", note: null, urgent: true, tags: ["x", "y"], data: { "first-name": "Ada", n: 1.5 } },
};

test("curl sends the path and the body, quoted for a shell", () => {
  assert.equal(
    writeSample("curl", operation, { ...values, body: { name: "Ada's" } }),
    `curl -sS --fail-with-body -X POST "$SWITCHYARD_ADDRESS/api/pools/a%2Fb/items" \\
  -H "X-API-Key: $SWITCHYARD_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"name":"Ada'\\''s"}'`,
  );
});

test("the command line has an argument for each variable, and an option for each other field", () => {
  assert.equal(
    writeSample("CLI", operation, values),
    `service item create a/b \\
  --name 'Ada'\\''s' \\
  --urgent \\
  --tags x \\
  --tags y \\
  --data '{"first-name":"Ada","n":1.5}'`,
  );
});

test("the TypeScript client gets all fields as one object", () => {
  const text = writeSample("TypeScript", operation, values)!;
  assert.match(text, /await client\.items\.create\(\{\n {2}pool_id: "a\/b",\n {2}name: "Ada's",\n {2}note: null,/);
  assert.match(text, /\n {2}data: \{ "first-name": "Ada", n: 1\.5 \},\n\}\);/);
});

test("the Python client gets all fields as keyword arguments, with the constants of Python", () => {
  const text = writeSample("Python", operation, values)!;
  assert.match(
    text,
    /^result = client\.items\.create\(\n {4}pool_id="a\/b",\n {4}name="Ada's",\n {4}note=None,\n {4}urgent=True,/m,
  );
  assert.match(text, /\n {4}data=\{"first-name": "Ada", "n": 1\.5\},\n\)/);
});

test("values of a query are repeated in a path, and nested in a message", () => {
  const list: SampledOperation = {
    ...{ verb: "GET", path: "/api/items", result: "list" },
    ...{ command: "item list", call: "items.list" },
  };
  const filtered: SampleValues = { path: {}, query: { limit: 2, types: ["a", "b"], "filter.state": "on" } };
  assert.match(writeSample("curl", list, filtered)!, /\/api\/items\?limit=2&types=a&types=b&filter\.state=on"/);
  assert.match(
    writeSample("TypeScript", list, filtered)!,
    /client\.items\.list\(\{ limit: 2, types: \["a", "b"\], filter: \{ state: "on" \} \}\)\.page\(\)/,
  );
  assert.match(writeSample("CLI", list, filtered)!, /--filter '\{"state":"on"\}'/);
});

test("an endpoint without a command and a method of the clients has no such sample", () => {
  const health: SampledOperation = { verb: "GET", path: "/health", result: "raw" };
  for (const language of ["CLI", "TypeScript", "Python"] as const) {
    assert.equal(writeSample(language, health, { path: {}, query: {} }), undefined);
  }
});
