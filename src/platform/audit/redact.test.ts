import assert from "node:assert/strict";
import { test } from "node:test";
import { createRedactor } from "./index.ts";

const all = createRedactor({ pii: true });
const secretsOnly = createRedactor({ pii: false });

test("credentials are always redacted, with or without redaction of personal data", () => {
  const cases: [string, string][] = [
    [
      "key sk_live_01HZXW3M9Q8E7R6T5Y4V3B2N1M_s3cr3tS3cr3t-_x used",
      "key sk_live_01HZXW3M9Q8E7R6T5Y4V3B2N1M_[redacted] used",
    ],
    ["sk_abcdefgh12345678", "sk_[redacted]"],
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_[redacted]"],
    ["Authorization: Bearer abc.def-ghi_123", "Authorization: Bearer [redacted]"],
    ["Basic dXNlcjpwYXNzd29yZA==", "Basic [redacted]"],
    ["key AKIAIOSFODNN7EXAMPLE used", "key AKIA[redacted] used"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[redacted token]"],
    ["postgres://user:hunter2@db:5432/x", "postgres://user:[redacted]@db:5432/x"],
    ["redis://:hunter2@cache", "redis://:[redacted]@cache"],
    ["?a=1&client_secret=hunter2&b=2", "?a=1&client_secret=[redacted]&b=2"],
    ["X-API-Key: hunter2hunter2", "X-API-Key: [redacted]"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", "[redacted private key]"],
  ];
  for (const [text, expected] of cases) {
    assert.equal(secretsOnly(text), expected);
    assert.equal(all(text), expected);
  }
});

test("a member with a secret's name loses its whole value, regardless of case style, type or depth", () => {
  const entry = {
    a: { clientSecret: "x", "api-key": 5, PASSWORD: { nested: "x" }, list: [{ refresh_token: ["x"] }] },
    token: "x",
    absent: { secret: null },
  };
  assert.deepEqual(secretsOnly(entry), {
    a: {
      clientSecret: "[redacted]",
      "api-key": "[redacted]",
      PASSWORD: "[redacted]",
      list: [{ refresh_token: "[redacted]" }],
    },
    token: "[redacted]",
    absent: { secret: null },
  });
});

test("members with configured names are redacted, in any case style", () => {
  const redact = createRedactor({ pii: false, fields: ["licensePlate"] });
  assert.deepEqual(redact({ license_plate: "B-AB 123", LicensePlate: 1, other: "x" }), {
    license_plate: "[redacted]",
    LicensePlate: "[redacted]",
    other: "x",
  });
});

test("email addresses, phone numbers and hosts are redacted only if redaction of personal data is on", () => {
  const cases: [string, string][] = [
    ["from ada.l+x@example.co.uk to bob@ex.com.", "from [email] to [email]."],
    [`${"a".repeat(80)}@example.com`, `${"a".repeat(16)}[email]`],
    ["jürgen@münchen.de", "[email]"],
    ["call +1 (555) 010-1234 or +442079460958", "call [phone] or [phone]"],
    ["555-010-1234", "[phone]"],
    ["+33 6 12 34 56 78", "[phone]"],
    ["(555) 010-1234", "[phone]"],
    ["203.0.113.77", "203.0.113.x"],
    ["203.0.113.77:8080, 10.0.0.1", "203.0.113.x:8080, 10.0.0.x"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::x"],
    ["2001:db8::1", "2001:db8:0::x"],
    ["::1", "0:0:0::x"],
    ["::ffff:192.0.2.7", "::ffff:192.0.2.x"],
  ];
  for (const [text, expected] of cases) {
    assert.equal(all(text), expected);
    assert.equal(secretsOnly(text), text);
  }
  assert.deepEqual(all({ "ada@example.com": 1, first_name: "Ada" }), { "[email]": 1, first_name: "[redacted]" });
});

test("ids, times, versions and prose stay unchanged", () => {
  for (const text of [
    "01J0000000000000000000000A",
    "2026-11-15T00:47:05.607Z at 00:47:05",
    "service.api.PoolService/CreatePool",
    "task_runner_started: basic information about token validation",
    "pool:write",
    "1.2.3",
    "order 1234567890123",
    "550e8400-e29b-41d4-a716-446655440000",
    "basket sk_short",
  ]) {
    assert.equal(all(text), text);
  }
});

test("values that JSON cannot represent are replaced by values that it can", () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  const value = {
    big: 1n,
    nan: Number.NaN,
    date: new Date(0),
    bytes: new Uint8Array(3),
    fn: () => 1,
    none: undefined,
    map: new Map([["a", 1]]),
    error: new Error("sk_abcdefgh12345678"),
  };
  assert.deepEqual(all(value) as unknown, {
    big: "1",
    nan: null,
    date: "1970-01-01T00:00:00.000Z",
    bytes: "[3 bytes]",
    map: { a: 1 },
    error: { name: "Error", message: "sk_[redacted]" },
  });
  assert.match(JSON.stringify(all(loop)), /too deep/);
  assert.equal(JSON.stringify(all(JSON.parse('{"__proto__":{"x":1}}'))), '{"__proto__":{"x":1}}');
});

test("a hostile text is redacted in linear time", () => {
  for (const unit of [
    "a",
    "sk_",
    "a@",
    "a.",
    "1.",
    "+1 ",
    "token ",
    "token:",
    "-----BEGIN PRIVATE KEY-----",
    "eyJa.",
    "::",
    "://a:",
    "basic ",
    "(555) ",
  ]) {
    const text = unit.repeat(Math.ceil(200_000 / unit.length));
    const startedMs = performance.now();
    all(text);
    // A backtracking pattern would take minutes here, so a generous bound is enough to detect one.
    assert.ok(performance.now() - startedMs < 60_000, unit);
  }
});
