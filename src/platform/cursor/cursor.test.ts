import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { fc } from "../../../test/harness/random.ts";
import { Failure } from "../../errors/index.ts";
import { createSigner } from "../crypto/index.ts";
import { createCursors, filterHash } from "./index.ts";

const secret = randomBytes(32);
const cursors = createCursors(secret);
const scope = { tenantId: "t1", operation: "ListPools", filter: filterHash({ status: "STATUS_ACTIVE" }) };

function assertRefused(action: () => unknown, why: string): void {
  assert.throws(
    action,
    (error: unknown) =>
      error instanceof Failure &&
      error.code === "INVALID_ARGUMENT" &&
      error.violations[0]?.field === "page_token" &&
      error.violations[0]?.rule === "cursor",
    why,
  );
}

test("a cursor is decoded to its content on every node with the same secret", () => {
  const position = ["2026-01-01T00:00:00Z", 42, "01J0000000000000000000000A", 'ü|"\n'];
  assert.deepEqual(createCursors(secret).decode(cursors.encode({ ...scope, position }), scope), { position });
  for (const count of [0, 12, 10_000]) {
    for (const capped of [false, true]) {
      const content = { position, total: { count, capped } };
      assert.deepEqual(cursors.decode(cursors.encode({ ...scope, ...content }), scope), content);
    }
  }
});

test("a cursor is short and URL-safe", () => {
  const token = cursors.encode({
    ...scope,
    position: [1767225600000, "01J0000000000000000000000A"],
    total: { count: 12345, capped: true },
  });
  assert.match(token, /^[A-Za-z0-9_-]+$/);
  assert.ok(token.length < 100, `${token.length} characters`);
});

test("a cursor of another tenant, operation, filter or secret is rejected", () => {
  const token = cursors.encode({ ...scope, position: ["a"] });
  assertRefused(() => cursors.decode(token, { ...scope, tenantId: "t2" }), "tenant");
  assertRefused(() => cursors.decode(token, { ...scope, operation: "ListRules" }), "operation");
  assertRefused(() => cursors.decode(token, { ...scope, filter: filterHash({}) }), "filter");
  assertRefused(() => createCursors(randomBytes(32)).decode(token, scope), "secret");
});

test("characters cannot be moved from one part of the scope to another", () => {
  const token = cursors.encode({ tenantId: "ab", operation: "c", filter: "d", position: ["a"] });
  assertRefused(() => cursors.decode(token, { tenantId: "a", operation: "bc", filter: "d" }), "shifted");
});

test("a cursor with any changed character is rejected", () => {
  const token = cursors.encode({ ...scope, position: ["abc", 1] });
  for (let at = 0; at < token.length; at++) {
    const altered = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
    assertRefused(() => cursors.decode(altered, scope), `character ${at}`);
  }
});

test("a cursor with characters appended or removed is rejected", () => {
  for (const position of [["a"], ["ab"], ["abc"], ["abcd"]]) {
    const token = cursors.encode({ ...scope, position });
    for (const more of ["A", "AA", "AAA", "AAAA", "_", "=", "==", ".", "%00"]) {
      assertRefused(() => cursors.decode(token + more, scope), `${more} appended`);
    }
    for (let cut = 1; cut < 5; cut++)
      assertRefused(() => cursors.decode(token.slice(0, -cut), scope), `${cut} cut off`);
  }
});

test("any text that is not a cursor is rejected as INVALID_ARGUMENT and never as an internal error", () => {
  for (const text of ["", "a", "====", "null", "💥", "A".repeat(2049), "A".repeat(10_000_000)])
    assertRefused(() => cursors.decode(text, scope), text.slice(0, 20));
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) =>
      assertRefused(() => cursors.decode(text, scope), text),
    ),
  );
});

test("a token of more than 2 KiB is rejected even if its signature is valid", () => {
  const body = JSON.stringify([null, "x".repeat(2000)]);
  const signature = createSigner(secret).sign(JSON.stringify([1, scope.tenantId, scope.operation, scope.filter, body]));
  const token = Buffer.concat([signature, Buffer.from(body)]).toString("base64url");
  assertRefused(() => cursors.decode(token, scope), "oversize");
});

test("encoding fails for a position that could not be decoded", () => {
  for (const position of [[Number.NaN], [Number.POSITIVE_INFINITY], [], ["x".repeat(3000)]]) {
    assert.throws(
      () => cursors.encode({ ...scope, position }),
      (error: unknown) => error instanceof Failure && error.code === "INTERNAL",
    );
  }
});

test("a filter hash depends on values, not on member order or undefined members", () => {
  assert.equal(filterHash({ a: 1, b: "x" }), filterHash({ b: "x", a: 1, c: undefined }));
  assert.notEqual(filterHash({ a: 1 }), filterHash({ a: 2 }));
  assert.notEqual(filterHash(["a", "bc"]), filterHash(["ab", "c"]));
  assert.match(filterHash({}), /^[A-Za-z0-9_-]{22}$/);
});
