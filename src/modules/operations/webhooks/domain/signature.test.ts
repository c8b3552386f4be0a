import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { fc } from "../../../../../test/harness/random.ts";
import { webhookHeaders } from "../../../../platform/crypto/index.ts";
import { secretBytes, secretText } from "./signature.ts";

const nowS = () => Math.floor(Date.now() / 1000);

test("an independent library verifies messages with every valid secret, and with no other", () => {
  fc.assert(
    fc.property(fc.string(), fc.json(), fc.integer({ min: 1, max: 4 }), (id, body, count) => {
      const secrets = Array.from({ length: count }, () => secretText(randomBytes(secretBytes)));
      const headers = webhookHeaders({ id, timestampS: nowS(), body }, secrets);
      fc.pre(id !== "");
      for (const secret of secrets) new Webhook(secret).verify(body, headers);
      const stranger = new Webhook(secretText(randomBytes(secretBytes)));
      assert.throws(() => stranger.verify(body, headers), WebhookVerificationError);
    }),
  );
});

test("a changed body, id or time fails verification", () => {
  const secret = secretText(randomBytes(secretBytes));
  const webhook = new Webhook(secret);
  const headers = webhookHeaders({ id: "m1", timestampS: nowS(), body: "{}" }, [secret]);
  assert.throws(() => webhook.verify('{"a":1}', headers), WebhookVerificationError);
  assert.throws(() => webhook.verify("{}", { ...headers, "webhook-id": "m2" }), WebhookVerificationError);
  assert.throws(
    () => webhook.verify("{}", { ...headers, "webhook-timestamp": String(nowS() + 1) }),
    WebhookVerificationError,
  );
});
