import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { Failure } from "../../errors/index.ts";
import {
  createStatementKey,
  digestOfStatement,
  readPrivateKey,
  readPublicKey,
  signStatement,
  verifyStatement,
} from "./index.ts";

const { privateKeyPem, key } = createStatementKey();
const { privateKey } = readPrivateKey(privateKeyPem);
const value = { b: [1, "ü"], a: { nested: true } };
const signature = signStatement("test.v1", value, privateKey);

test("a statement verifies in any order of its members", () => {
  assert.ok(verifyStatement("test.v1", { a: { nested: true }, b: [1, "ü"] }, signature, key));
});

test("a changed value, type, signature or key does not verify", () => {
  assert.ok(!verifyStatement("test.v1", { ...value, b: [2, "ü"] }, signature, key));
  assert.ok(!verifyStatement("test.v2", value, signature, key));
  assert.ok(!verifyStatement("test.v1", value, signature, createStatementKey().key));
  const bytes = Buffer.from(signature, "base64");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at]! ^= 1;
    assert.ok(!verifyStatement("test.v1", value, altered.toString("base64"), key), `byte ${at}`);
  }
});

test("only the canonical text of a signature verifies", () => {
  for (const text of ["", "AAAA", `${signature}\n`, signature.replace(/=+$/, ""), `${signature}AA`]) {
    assert.ok(!verifyStatement("test.v1", value, text, key), JSON.stringify(text));
  }
});

test("a public key reads the same from base64 and from PEM, and its id is derived from it", () => {
  const pem = createPublicKey(privateKey).export({ type: "spki", format: "pem" }) as string;
  assert.deepEqual(readPublicKey(pem), key);
  assert.deepEqual(readPublicKey(key.publicKey), key);
  assert.deepEqual(readPrivateKey(privateKeyPem).key, key);
  assert.match(key.id, /^ed25519-[0-9a-f]{32}$/);
});

test("a private key, a key of another type and a malformed key are refused", () => {
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const refused: [() => unknown, RegExp][] = [
    [() => readPublicKey(privateKeyPem), /private key\. Keep it secret/],
    [() => readPublicKey(other.publicKey.export({ type: "spki", format: "pem" }) as string), /Ed25519/],
    [() => readPrivateKey(other.privateKey.export({ type: "pkcs8", format: "pem" }) as string), /Ed25519/],
    [() => readPublicKey("AAAA"), /32 bytes/],
    [() => readPublicKey("-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----"), /PEM/],
    [() => readPrivateKey("nonsense"), /PEM/],
  ];
  for (const [read, text] of refused) {
    assert.throws(read, (error: unknown) => {
      assert.ok(error instanceof Failure && error.code === "INVALID_ARGUMENT");
      assert.match(error.message, text);
      return true;
    });
  }
});

test("equal values have the same digest", () => {
  assert.equal(digestOfStatement({ a: 1, b: 2 }), digestOfStatement({ b: 2, a: 1 }));
  assert.match(digestOfStatement(value), /^[0-9a-f]{64}$/);
});
