import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { audience, type Issuer, startIssuer } from "../access/issuer.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { sendMessage } from "./mcp-client.ts";

let issuer: Issuer;
let service: TestService;
let tenantId: string;
before(async () => {
  issuer = await startIssuer(["ada"]);
  service = await startService({
    ...{ "mcp.enabled": "true", "mcp.oauth_scopes": "openid,profile" },
    ...{ "api.oidc_issuer": issuer.url, "api.oidc_audience": audience },
  });
  const { body } = await restClient(service.baseUrl, service.adminKey).call("GET", "/api/tenants");
  tenantId = body.data[0].id;
});
after(() => issuer.goDown());

test("a client without a token learns where to get one", async () => {
  const { status, headers } = await sendMessage(`${service.baseUrl}/mcp`, "server/discover");
  assert.equal(status, 401);
  const challenge = headers.get("www-authenticate")!;
  const [, metadataUrl] = /^Bearer [^"]*"?.*resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  assert.equal(metadataUrl, `${service.baseUrl}/.well-known/oauth-protected-resource/mcp`);
  assert.match(challenge, /scope="openid profile"/);
  const { body } = await restClient("").call("GET", metadataUrl!);
  assert.deepEqual(body, {
    resource: `${service.baseUrl}/mcp`,
    authorization_servers: [issuer.url],
    scopes_supported: ["openid", "profile"],
    bearer_methods_supported: ["header"],
    resource_name: "Switchyard",
  });
});

test("a token of the issuer is accepted, and one for another audience is not", async () => {
  const statusWith = async (resource: string) => {
    const token = await issuer.token("ada", { tenant_id: tenantId, roles: ["viewer"] }, resource);
    const headers = { authorization: `Bearer ${token}` };
    return (await sendMessage(`${service.baseUrl}/mcp`, "tools/list", {}, { headers })).status;
  };
  assert.equal(await statusWith(audience), 200);
  assert.equal(await statusWith("https://other.example"), 401);
});

test("a token for the URL of the endpoint is accepted there and nowhere else", async () => {
  const publicUrl = "https://switchyard.example";
  const published = await startService({
    ...{ "mcp.enabled": "true", "api.public_url": publicUrl },
    ...{ "api.oidc_issuer": issuer.url, "api.oidc_audience": audience },
  });
  const { body } = await restClient(published.baseUrl, published.adminKey).call("GET", "/api/tenants");
  const token = await issuer.token("ada", { tenant_id: body.data[0].id, roles: ["viewer"] }, `${publicUrl}/mcp`);
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await sendMessage(`${published.baseUrl}/mcp`, "tools/list", {}, { headers })).status, 200);
  const call = { name: "list_pools", arguments: {} };
  assert.equal((await sendMessage(`${published.baseUrl}/mcp`, "tools/call", call, { headers })).status, 200);
  const rest = await restClient(published.baseUrl).call("GET", "/api/pools", undefined, headers);
  assert.equal(rest.status, 401);
});

test("a token without a scope gets a challenge that names the scope", async () => {
  const token = await issuer.token("ada", { tenant_id: tenantId, roles: ["viewer"] });
  const { status, headers } = await sendMessage(
    `${service.baseUrl}/mcp`,
    "tools/call",
    { name: "start_workflow_run", arguments: {} },
    { headers: { authorization: `Bearer ${token}` } },
  );
  assert.equal(status, 403);
  const challenge = headers.get("www-authenticate")!;
  assert.match(challenge, /error="insufficient_scope"/);
  assert.match(challenge, /scope="workflow_run:write"/);
  assert.match(challenge, /resource_metadata="/);
});
