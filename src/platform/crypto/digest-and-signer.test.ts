import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { canonicalJson, createKeyedDigest, createSigner } from "./index.ts";

test("a keyed digest is stable within an instance and differs between instances", () => {
  const [one, two] = [createKeyedDigest(), createKeyedDigest()];
  assert.equal(one("secret"), one("secret"));
  assert.match(one("secret"), /^[0-9a-f]{64}$/);
  assert.notEqual(one("secret"), one("secret2"));
  assert.notEqual(one("secret"), two("secret"));
});

test("a signature verifies for its text and secret only", () => {
  const secret = randomBytes(32);
  const signer = createSigner(secret);
  const signature = signer.sign("text");
  assert.equal(signature.length, signer.signatureBytes);
  assert.equal(createSigner(secret).verify("text", signature), true);
  assert.equal(signer.verify("texts", signature), false);
  assert.equal(createSigner(randomBytes(32)).verify("text", signature), false);
  assert.equal(signer.verify("text", signature.subarray(1)), false);
  assert.equal(signer.verify("text", Buffer.alloc(0)), false);
});

test("a signing secret that is too short is rejected", () => {
  assert.throws(() => createSigner(randomBytes(16)), /16 bytes is too short/);
});

test("equal values have the same canonical JSON", () => {
  assert.equal(canonicalJson({ b: 1, a: [true, null, { d: "x", c: undefined }] }), '{"a":[true,null,{"d":"x"}],"b":1}');
  assert.equal(canonicalJson({ a: 1, b: 2 }), canonicalJson({ b: 2, a: 1 }));
  assert.notEqual(canonicalJson({ a: "1" }), canonicalJson({ a: 1 }));
  assert.notEqual(canonicalJson(["a", "b"]), canonicalJson(["b", "a"]));
});
