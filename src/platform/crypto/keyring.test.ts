import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { Failure } from "../../errors/index.ts";
import { createKeyring, SealError, type SealFailure } from "./index.ts";
import { decrypt, encrypt } from "./xchacha.ts";

const key = (): string => randomBytes(32).toString("base64");
const binding = { tenantId: "t1", recordId: "r1", field: "credential" };

function faultOf(action: () => unknown): SealFailure {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof Failure, "a Failure is thrown");
    assert.equal(error.code, "INTERNAL");
    assert.ok(error.cause instanceof SealError, "its cause is a SealError");
    return error.cause.fault;
  }
  return assert.fail("nothing was thrown");
}

function refusalOf(activeKeyId: string, keys: Record<string, string> | [string, string][]): string {
  try {
    createKeyring({ activeKeyId, keys });
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, "FAILED_PRECONDITION");
    return error.message;
  }
  return assert.fail("nothing was thrown");
}

test("the cipher produces the same bytes as the reference implementation and decrypts them, at every length", () => {
  for (const length of [0, 1, 15, 16, 17, 63, 64, 65, 1000, 70_000]) {
    const [k, nonce, plaintext, additional] = [
      randomBytes(32),
      randomBytes(24),
      randomBytes(length),
      randomBytes(length % 40),
    ];
    const sealed = encrypt(k, nonce, plaintext, additional);
    assert.deepEqual(sealed, Buffer.from(xchacha20poly1305(k, nonce, additional).encrypt(plaintext)));
    assert.deepEqual(decrypt(k, nonce, sealed, additional), plaintext);
  }
});

test("the cipher matches the published test vector of draft-irtf-cfrg-xchacha A.3.1", () => {
  const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
  const sealed = encrypt(
    hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"),
    hex("404142434445464748494a4b4c4d4e4f5051525354555657"),
    Buffer.from(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
    ),
    hex("50515253c0c1c2c3c4c5c6c7"),
  );
  assert.equal(sealed.subarray(0, 16).toString("hex"), "bd6d179d3e83d43b9576579493c0e939");
  assert.equal(sealed.subarray(-16).toString("hex"), "c0875924c1c7987947deafd8780acf49");
});

test("any sealed text can be opened again", () => {
  const ring = createKeyring({ activeKeyId: "k1", keys: { k1: key() } });
  for (const text of ["", "token", "ünïcödé 🔑", "x".repeat(100_000)])
    assert.equal(ring.open(ring.seal(text, binding), binding), text);
});

test("a ciphertext has the documented form, and the same text never seals to the same ciphertext", () => {
  const ring = createKeyring({ activeKeyId: "2026-01", keys: { "2026-01": key() } });
  const sealed = ring.seal("secret", binding);
  assert.match(sealed, /^xc1:2026-01:[A-Za-z0-9+/]+=*$/);
  assert.equal(Buffer.from(sealed.split(":")[2]!, "base64").length, 24 + 6 + 16);
  assert.notEqual(ring.seal("secret", binding), sealed);
});

test("a ciphertext opens only for its own tenant, record and field", () => {
  const ring = createKeyring({ activeKeyId: "k1", keys: { k1: key() } });
  const sealed = ring.seal("secret", binding);
  for (const other of [{ tenantId: "t2" }, { recordId: "r2" }, { field: "other" }]) {
    assert.equal(
      faultOf(() => ring.open(sealed, { ...binding, ...other })),
      "rejected",
    );
  }
  for (const bad of [{ tenantId: "" }, { recordId: "r|1" }]) {
    assert.equal(
      faultOf(() => ring.seal("secret", { ...binding, ...bad })),
      "bad_binding",
    );
  }
});

test("a ciphertext with any changed byte is rejected", () => {
  const ring = createKeyring({ activeKeyId: "k1", keys: { k1: key() } });
  const bytes = Buffer.from(ring.seal("secret", binding).split(":")[2]!, "base64");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at]! ^= 1;
    assert.equal(
      faultOf(() => ring.open(`xc1:k1:${altered.toString("base64")}`, binding)),
      "rejected",
      `byte ${at}`,
    );
  }
  const short = bytes.subarray(0, 39).toString("base64");
  for (const text of ["", "xc1", "xc1:k1:", "xc2:k1:AAAA", "xc1:k1:!!!!", `xc1:k1:${short}`, "plain text"]) {
    assert.equal(
      faultOf(() => ring.open(text, binding)),
      "malformed",
      text,
    );
  }
});

test("after a rotation the retired key still opens, the new key seals, and isCurrent distinguishes them", () => {
  const [k1, k2] = [key(), key()];
  const before = createKeyring({ activeKeyId: "k1", keys: { k1 } });
  const after = createKeyring({ activeKeyId: "k2", keys: { k2, k1 } });
  const old = before.seal("secret", binding);
  assert.equal(after.open(old, binding), "secret");
  assert.equal(after.isCurrent(old), false);
  assert.equal(after.keyIdOf(old), "k1");
  const renewed = after.seal("secret", binding);
  assert.equal(after.isCurrent(renewed), true);
  assert.equal(
    faultOf(() => before.open(renewed, binding)),
    "unknown_key",
  );
});

test("an invalid key is rejected with a message that names it and shows none of its bytes", () => {
  assert.match(refusalOf("k1", { k1: "not base64 at all!" }), /"k1" is not base64/);
  assert.match(refusalOf("k1", { k1: randomBytes(16).toString("base64") }), /"k1" decodes to 16 bytes; it must be 32/);
  assert.match(refusalOf("k1", { k1: "" }), /"k1" is empty/);
  assert.match(refusalOf("k1", { k1: Buffer.alloc(32).toString("base64") }), /placeholder/);
  assert.match(refusalOf("k:1", { "k:1": key() }), /"k:1" has an id/);
  assert.match(
    refusalOf("k1", [
      ["k1", key()],
      ["k1", key()],
    ]),
    /"k1" is configured twice/,
  );
  const twin = key();
  assert.match(refusalOf("k1", { k1: twin, k2: twin }), /"k2" has the same bytes as "k1"/);
  const missing = refusalOf("k9", { k1: twin });
  assert.match(missing, /active encryption key "k9" is missing; configured keys: k1/);
  assert.ok(!missing.includes(twin));
});
