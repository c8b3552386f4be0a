import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import { accountWith, compile, manifestWith, smallManifest } from "../../testing/manifest-documents.ts";
import { createRedactor, redacted, secretsOf } from "./redactor.ts";

const secret = 'pä$$ w/o+rd"=1';

test("a secret is replaced in every encoding that requests and answers use", () => {
  const { text } = createRedactor([secret]);
  const encodings = {
    raw: secret,
    "percent-encoded": encodeURIComponent(secret),
    "form-encoded": new URLSearchParams({ a: secret }).toString(),
    "JSON-escaped": JSON.stringify({ a: secret }),
    "JSON in JSON": JSON.stringify(JSON.stringify({ a: secret })),
    base64: Buffer.from(secret).toString("base64"),
    base64url: Buffer.from(secret).toString("base64url"),
    "Basic credentials": Buffer.from(`ada:${secret}`).toString("base64"),
    "Basic credentials with another offset": Buffer.from(`adam:${secret}x`).toString("base64"),
    "upper case": secret.toUpperCase(),
    "percent-encoded in lower case": encodeURIComponent(secret).toLowerCase(),
    hex: Buffer.from(secret).toString("hex"),
    "hex in upper case": Buffer.from(secret).toString("hex").toUpperCase(),
    "part of a text": `The key ${secret} is not valid.`,
  };
  for (const [name, encoded] of Object.entries(encodings)) assert.ok(text(encoded).includes(redacted), name);
  assert.equal(text(`The key ${secret} is not valid.`), `The key ${redacted} is not valid.`);
});

test("no more than a few bytes of a secret survive in base64, whatever surrounds it", () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(fc.string({ minLength: 12, maxLength: 60 }), bytes, bytes, (value, before, after) => {
      const whole = Buffer.concat([before, Buffer.from(value), after]);
      const { text } = createRedactor([value]);
      assert.ok(text(whole.toString("base64")).includes(redacted));
      assert.ok(text(whole.toString("base64url")).includes(redacted));
    }),
  );
});

test("names and values of JSON are redacted", () => {
  const { value } = createRedactor([secret, "12345678"]);
  const clean = value({ [secret]: [{ a: `x${secret}` }, 12345678, true, null, "fine"] });
  assert.deepEqual(clean, { [redacted]: [{ a: `x${redacted}` }, redacted, true, null, "fine"] });
});

test("short secrets are not replaced, and nothing is without secrets", () => {
  assert.equal(createRedactor(["abc"]).text("abcabc"), "abcabc");
  assert.equal(createRedactor([]).text("text"), "text");
});

test("a secret that contains another is replaced as a whole", () => {
  assert.equal(createRedactor(["abcd", "abcdefgh"]).text("x abcdefgh y abcd"), `x ${redacted} y ${redacted}`);
});

test("the secrets of a connection are its credentials and the config, without public fields", () => {
  const fields = { user: { secret: false }, key: {} };
  const auth = { api_key: { fields, apply: { query: { key: "{credentials.key}" } } } };
  const provider = compile(manifestWith({ auth }));
  const account = accountWith({
    credentials: { user: "ada-lovelace", key: "key-123456", token_type: "bearer" },
    config: { client_id: "client-1234", client_secret: "client-secret" },
  });
  assert.deepEqual(secretsOf(provider, account), ["key-123456", "client-secret"]);
  assert.deepEqual(secretsOf(compile(smallManifest), accountWith()), ["secret-key-1"]);
});
