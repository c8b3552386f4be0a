import assert from "node:assert/strict";
import { test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

test("an open stream ends when its key is revoked, and says why", async () => {
  const service = await startService();
  const admin = restClient(service.baseUrl, service.adminKey);
  const reader = (await admin.call("POST", "/api/v2/api-keys", { name: "reader", roles: ["viewer"] })).body.data;
  const stream = await fetch(`${service.baseUrl}/api/events/subscribe`, { headers: { "x-api-key": reader.secret } });
  await admin.call("POST", `/api/v2/api-keys/${reader.id}/revoke`);
  const text = await stream.text();
  assert.match(text, /event: error\ndata: .*"errorCode":"UNAUTHENTICATED"/);
});

test("callers that disconnect before their stream starts take no slot of others", async () => {
  const service = await startService({ "api.max_concurrent_requests": "4" });
  const open = () =>
    fetch(`${service.baseUrl}/service.api.EventService/SubscribeEvents`, {
      method: "POST",
      headers: {
        "x-api-key": service.adminKey,
        "content-type": "application/connect+json",
        "connect-protocol-version": "1",
        "connect-timeout-ms": "1",
      },
      body: Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]),
    }).then((response) => response.arrayBuffer());
  for (let round = 0; round < 15; round++) await Promise.all([open(), open(), open()]);
  const other = restClient(service.baseUrl, service.adminKey);
  // The last of them may still be about to notice that its caller has left.
  await until(async () => (await other.call("GET", "/api/v2/environments")).status === 200);
});

test("guessing a key's secret does not block its owner", async () => {
  const service = await startService({ "auth.bcrypt_cost": "10" });
  const owner = restClient(service.baseUrl, service.adminKey);
  assert.equal((await owner.call("GET", "/api/tenants")).status, 200);
  const prefix = service.adminKey.slice(0, service.adminKey.lastIndexOf("_"));
  const guesses = Array.from({ length: 60 }, (_, i) =>
    restClient(service.baseUrl, `${prefix}_wrongwrong${i}`).call("GET", "/api/tenants"),
  );
  assert.equal((await owner.call("GET", "/api/tenants")).status, 200);
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.ok(statuses.every((status) => status === 401 || status === 503));
  assert.ok(statuses.filter((status) => status === 401).length < 20, "only a few guesses are checked concurrently");
});
