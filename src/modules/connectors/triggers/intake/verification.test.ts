import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { compileManifest, type VerifySpec } from "../../manifests/index.ts";
import { readDelivery } from "./delivery-reader.ts";
import { type Delivery, isVerified } from "./verification.ts";

const nowMs = 1_800_000_000_000;
const nowS = String(nowMs / 1000);
const secret = "a secret of the provider";

/** The verification of a manifest, as its author writes it. */
function verifySpec(verify: object): VerifySpec {
  const { provider, violations } = compileManifest({
    ...{ manifest: 1, key: "acme", version: "1.0.0", name: "Acme", category: "generic", description: "A test." },
    ...{ docs_url: "https://acme.example", hosts: ["acme.example"], base_url: "https://acme.example" },
    auth: { none: {} },
    actions: {},
    triggers: { changed: { title: "Changed", description: "Something changed.", kind: "webhook", verify } },
  } as never);
  assert.ok(provider, JSON.stringify(violations));
  return provider.triggers.get("changed")!.verify!;
}

interface Sent extends Partial<Omit<Delivery, "rawBody">> {
  readonly body?: string;
}

const url = "https://switchyard.example/callbacks/connectors/t/s?a=b";

function delivery({ body = '{"a":1}', ...rest }: Sent): Delivery {
  return { method: "POST", headers: {}, url, rawBody: Buffer.from(body), ...rest };
}

const isAccepted = (spec: VerifySpec, sent: Sent, at = nowMs, key = secret) =>
  isVerified(spec, key, readDelivery(delivery(sent)), at);

const hmac = (
  text: string,
  { algorithm = "sha256", encoding = "hex" as "hex" | "base64", key = secret as string | Buffer } = {},
) => createHmac(algorithm, key).update(text).digest(encoding);

test("an HMAC in hex over the body is accepted, and any other body, secret, prefix or encoding is not", () => {
  const spec = verifySpec({ kind: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=", over: "{body}" });
  const name = "x-hub-signature-256";
  const body = '{"b":2}';
  const sent = (value: string) => ({ body, headers: { [name]: value } });
  assert.ok(isAccepted(spec, sent(`sha256=${hmac(body)}`)));
  assert.ok(isAccepted(spec, sent(`sha256=${hmac(body).toUpperCase()}`)));
  for (const value of [
    hmac(body),
    `sha1=${hmac(body)}`,
    `sha256=${hmac(`${body} `)}`,
    `sha256=${hmac(body, { key: "another" })}`,
    `sha256=${hmac(body, { encoding: "base64" })}`,
    `sha256=${hmac(body).slice(0, -2)}`,
    `sha256=${hmac(body)}00`,
    "sha256=",
    "",
  ]) {
    assert.ok(!isAccepted(spec, sent(value)), value);
  }
  assert.ok(!isAccepted(spec, { body }));
});

test("a signed timestamp outside of the tolerance is refused, in the past and in the future", () => {
  const spec = verifySpec({
    ...{ kind: "hmac", header: "x-slack-signature", prefix: "v0=", over: "v0:{timestamp}:{body}" },
    timestamp: { header: "x-slack-request-timestamp", unit: "epoch_s", tolerance_s: 300 },
  });
  const body = "payload";
  const signed = { "x-slack-request-timestamp": nowS, "x-slack-signature": `v0=${hmac(`v0:${nowS}:${body}`)}` };
  assert.ok(isAccepted(spec, { body, headers: signed }));
  assert.ok(isAccepted(spec, { body, headers: signed }, nowMs + 300_000));
  assert.ok(!isAccepted(spec, { body, headers: signed }, nowMs + 301_000));
  assert.ok(!isAccepted(spec, { body, headers: signed }, nowMs - 301_000));
  const moved = { ...signed, "x-slack-request-timestamp": String(Number(nowS) + 1) };
  assert.ok(!isAccepted(spec, { body, headers: moved }));
  for (const wrong of ["", "soon", "1e9", "-1"]) {
    const headers = { "x-slack-request-timestamp": wrong, "x-slack-signature": `v0=${hmac(`v0:${wrong}:${body}`)}` };
    assert.ok(!isAccepted(spec, { body, headers }), wrong);
  }
});

test("a header with members is read, and one valid signature of several is enough", () => {
  const spec = verifySpec({
    ...{ kind: "hmac", header: "stripe-signature", member: "v1", over: "{timestamp}.{body}" },
    timestamp: { member: "t", unit: "epoch_s", tolerance_s: 300 },
  });
  const body = '{"id":"evt_1"}';
  const good = hmac(`${nowS}.${body}`);
  const sent = (value: string) => ({ body, headers: { "stripe-signature": value } });
  assert.ok(isAccepted(spec, sent(`t=${nowS},v1=${good},v0=abc`)));
  assert.ok(isAccepted(spec, sent(`t=${nowS}, v1=${hmac("other")}, v1=${good}`)));
  assert.ok(!isAccepted(spec, sent(`t=${nowS},v0=${good}`)));
  assert.ok(!isAccepted(spec, sent(`v1=${good}`)));
  assert.ok(!isAccepted(spec, sent(good)));
});

test("an HMAC over the URL and the sorted form is accepted", () => {
  const spec = verifySpec({
    ...{
      kind: "hmac",
      algorithm: "sha1",
      encoding: "base64",
      header: "x-twilio-signature",
      over: "{url}{sorted_form}",
    },
  });
  const body = "To=%2B1&Body=hello+there&From=%2B2";
  const signature = hmac(`${url}Bodyhello thereFrom+2To+1`, { algorithm: "sha1", encoding: "base64" });
  const headers = { "x-twilio-signature": signature, "content-type": "application/x-www-form-urlencoded" };
  assert.ok(isAccepted(spec, { body, headers }));
  assert.ok(!isAccepted(spec, { body, headers, url: `${url}&c=d` }));
  assert.ok(!isAccepted(spec, { body: `${body}&More=1`, headers }));
});

test("an HMAC with a key in base64 over headers and body is accepted", () => {
  const spec = verifySpec({
    ...{ kind: "hmac", encoding: "base64", header: "webhook-signature", prefix: "v1,", key: "base64" },
    over: "{header.webhook-id}.{timestamp}.{body}",
    timestamp: { header: "webhook-timestamp", unit: "epoch_s", tolerance_s: 300 },
  });
  const key = Buffer.from("0123456789abcdef0123456789abcdef");
  const signature = hmac(`msg_1.${nowS}.{}`, { key, encoding: "base64" });
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": nowS, "webhook-signature": `v1,${signature}` };
  assert.ok(isAccepted(spec, { body: "{}", headers }, nowMs, `whsec_${key.toString("base64")}`));
  assert.ok(
    !isAccepted(spec, { body: "{}", headers: { ...headers, "webhook-id": "msg_2" } }, nowMs, key.toString("base64")),
  );
  assert.ok(!isAccepted(spec, { body: "{}", headers }, nowMs, "not base64!"));
});

test("a few signatures of a header are compared, and not thousands of them", () => {
  const listed = verifySpec({ kind: "hmac", header: "x-signature", over: "{body}" });
  const named = verifySpec({ kind: "hmac", header: "x-signature", member: "v1", over: "{body}" });
  const body = '{"b":2}';
  const wrong = (count: number) => Array.from({ length: count }, (_, at) => hmac(`${at}`));
  for (const [count, isFound] of [
    [0, true],
    [4, true],
    [100, false],
  ] as const) {
    const signatures = [...wrong(count), hmac(body)];
    const list = signatures.join(" ");
    const members = signatures.map((each) => `v1=${each}`).join(",");
    assert.equal(isAccepted(listed, { body, headers: { "x-signature": list } }), isFound, `${count} in a list`);
    assert.equal(isAccepted(named, { body, headers: { "x-signature": members } }), isFound, `${count} members`);
  }
});

test("a form with too many members is not verified by its members", () => {
  const spec = verifySpec({ kind: "hmac", header: "x-signature", over: "{sorted_form}" });
  for (const [count, isRead] of [
    [1000, true],
    [1001, false],
  ] as const) {
    const body = Array(count).fill("a").join("&");
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-signature": hmac("a".repeat(count)) };
    assert.equal(isAccepted(spec, { body, headers }), isRead, `${count}`);
    assert.deepEqual(readDelivery(delivery({ body, headers })).body, isRead ? { a: "" } : null);
  }
});

test("an Ed25519 signature is accepted with the right public key only", () => {
  const spec = verifySpec({
    ...{ kind: "ed25519", header: "x-signature-ed25519", over: "{timestamp}{body}" },
    timestamp: { header: "x-signature-timestamp", unit: "epoch_s", tolerance_s: 300 },
  });
  const pair = generateKeyPairSync("ed25519");
  const rawKey = (key: typeof pair.publicKey) =>
    key.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
  const body = '{"type":1}';
  const signature = sign(null, Buffer.from(nowS + body), pair.privateKey).toString("hex");
  const headers = { "x-signature-ed25519": signature, "x-signature-timestamp": nowS };
  assert.ok(isAccepted(spec, { body, headers }, nowMs, rawKey(pair.publicKey)));
  assert.ok(!isAccepted(spec, { body: `${body} `, headers }, nowMs, rawKey(pair.publicKey)));
  assert.ok(!isAccepted(spec, { body, headers }, nowMs, rawKey(generateKeyPairSync("ed25519").publicKey)));
  assert.ok(!isAccepted(spec, { body, headers }, nowMs, "00"));
  assert.ok(!isAccepted(spec, { body, headers }, nowMs, "ff".repeat(32)));
  assert.ok(
    !isAccepted(spec, { body, headers: { ...headers, "x-signature-ed25519": "zz" } }, nowMs, rawKey(pair.publicKey)),
  );
});

test("a token is compared as a whole, in a header, the query or the body", () => {
  const inHeader = verifySpec({ kind: "token", header: "X-Gitlab-Token" });
  assert.ok(isAccepted(inHeader, { headers: { "x-gitlab-token": secret } }));
  assert.ok(!isAccepted(inHeader, { headers: { "x-gitlab-token": secret.slice(1) } }));
  assert.ok(!isAccepted(inHeader, { headers: { "x-gitlab-token": "" } }));
  assert.ok(!isAccepted(inHeader, {}));
  const withPrefix = verifySpec({ kind: "token", header: "authorization", prefix: "Bearer " });
  assert.ok(isAccepted(withPrefix, { headers: { authorization: `Bearer ${secret}` } }));
  assert.ok(!isAccepted(withPrefix, { headers: { authorization: secret } }));
  const inQuery = verifySpec({ kind: "token", query: "token" });
  assert.ok(isAccepted(inQuery, { url: `https://x.example/?token=${encodeURIComponent(secret)}` }));
  assert.ok(!isAccepted(inQuery, { url: "https://x.example/?token=guess" }));
  const inBody = verifySpec({ kind: "body_token", pointer: "/value/0/clientState" });
  assert.ok(isAccepted(inBody, { body: JSON.stringify({ value: [{ clientState: secret }] }) }));
  assert.ok(!isAccepted(inBody, { body: JSON.stringify({ value: [{ clientState: [secret] }] }) }));
  assert.ok(!isAccepted(inBody, { body: "not JSON" }));
});

test("without a scheme nothing is verified by the secret alone", () => {
  const spec = verifySpec({ kind: "none", reason: "The provider does not sign." });
  assert.ok(!isAccepted(spec, { headers: { authorization: secret } }));
});
