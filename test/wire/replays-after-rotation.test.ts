import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService } from "../harness/service.ts";

const masterKey = (name: string) => createHash("sha256").update(name).digest("base64");

test("a repeat whose stored response is encrypted with a removed key fails with a typed error, and succeeds while the key exists", async () => {
  const first = await startService({
    "connector.encryption_key": masterKey("old"),
    "connector.encryption_key_id": "old",
  });
  const create = (baseUrl: string) =>
    restClient(baseUrl, first.adminKey).call(
      "POST",
      "/api/v2/api-keys",
      { name: "worker", roles: ["viewer"] },
      { "idempotency-key": "create-worker" },
    );
  const created = await create(first.baseUrl);
  assert.equal(created.status, 200, created.text);

  const rotated = { "connector.encryption_key": masterKey("new"), "connector.encryption_key_id": "new" };
  const settings = { ...rotated, "auth.bootstrap_api_key": first.adminKey };
  const keeping = await startService(
    { ...settings, "connector.rotation_keys": `old=${masterKey("old")}` },
    first.databaseUrl,
  );
  const replayed = await create(keeping.baseUrl);
  assert.equal(replayed.headers.get("idempotency-replayed"), "true");
  assert.deepEqual(replayed.body.data, created.body.data);

  const forgetful = await startService(settings, first.databaseUrl);
  const refused = await create(forgetful.baseUrl);
  assert.equal(refused.status, 409, refused.text);
  assert.equal(refused.body.errorCode, "IDEMPOTENCY_ANSWER_LOST");
  assert.equal(refused.body.retryable, false);
});
