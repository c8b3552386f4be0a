import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http2 from "node:http2";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { SignJWT } from "jose";
import { EnvironmentService } from "../../gen/service/api/environment_pb.ts";
import { serviceTokenAudience, signServiceToken } from "../../src/platform/tokens/index.ts";
import { type Authority, createAuthority, type Identity } from "../harness/certificates.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { serviceTokenSecret, startService, type TestService } from "../harness/service.ts";

const environments = "/api/v2/environments";
let service: TestService;
let tenantId: string;
let key: string;
let folder: string;
let authority: Authority;
let stranger: Authority;
let server: Identity;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "switchyard-tls-"));
  [authority, stranger] = await Promise.all([createAuthority("CN=Test"), createAuthority("CN=Stranger")]);
  server = await authority.issue("CN=switchyard", { addresses: ["127.0.0.1"] });
  await Promise.all([
    writeFile(join(folder, "ca.pem"), authority.cert),
    writeFile(join(folder, "cert.pem"), server.cert),
    writeFile(join(folder, "key.pem"), server.key),
  ]);
  service = await startService({ "server.grpc_addr": "127.0.0.1:0" });
  const platform = restClient(service.baseUrl, service.adminKey);
  const created = await platform.call("POST", "/api/tenants", { name: "Acme", issue_admin_key: true });
  tenantId = created.body.data.id;
  key = created.body.data.admin_key;
});
after(() => rm(folder, { recursive: true }));

const nowS = () => Math.floor(Date.now() / 1000);

function token(claims: Record<string, unknown> = {}, secret = serviceTokenSecret): Promise<string> {
  const good = { iss: "billing", aud: serviceTokenAudience, sub: "billing", tenant_id: tenantId, exp: nowS() + 60 };
  return new SignJWT({ ...good, ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(secret));
}
function ask(baseUrl: string, headers: Record<string, string>): ReturnType<RestClient["call"]> {
  return restClient(baseUrl).call("GET", environments, undefined, headers);
}
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

test("a service token is accepted on the internal plane, for the tenant that it names", async () => {
  const signed = await signServiceToken({ issuer: "billing", subject: "billing", tenantId }, serviceTokenSecret);
  const { status, body } = await ask(service.internalUrl, bearer(signed));
  assert.equal(status, 200);
  assert.equal(body.data[0].tenant_id, tenantId);
});

test("a service token that is malformed, for another audience, expired or too long-lived is rejected", async () => {
  const refused: [string, string][] = [
    ["expired", await token({ exp: nowS() - 10 })],
    ["more than five minutes", await token({ exp: nowS() + 330 })],
    ["another secret", await token({}, "another secret that nobody has set here")],
    ["another audience", await token({ aud: "service.external" })],
    ["no tenant", await token({ tenant_id: undefined })],
    ["a tenant that does not exist", await token({ tenant_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" })],
    ["no tenant's id", await token({ tenant_id: "acme" })],
    ["no subject", await token({ sub: undefined })],
    ["an empty subject", await token({ sub: "" })],
    ["a subject that is a number", await token({ sub: 7 })],
    ["a subject that is null", await token({ sub: null })],
    ["a subject that cannot be stored", await token({ sub: "a\u0000b" })],
    ["a tenant that cannot be stored", await token({ tenant_id: "a\u0000b" })],
    ["no token", "x"],
  ];
  for (const [why, text] of refused) {
    const { status, body } = await ask(service.internalUrl, bearer(text));
    assert.deepEqual([status, body.errorCode], [401, "UNAUTHENTICATED"], why);
  }
  assert.equal((await ask(service.internalUrl, {})).status, 401);
});

test("an API key is rejected on the internal plane, and a service token on the external plane", async () => {
  assert.equal((await ask(service.baseUrl, { "x-api-key": key })).status, 200);
  assert.equal((await ask(service.internalUrl, { "x-api-key": key })).status, 401);
  assert.equal((await ask(service.baseUrl, bearer(await token()))).status, 401);
});

test("without a configured secret every service token is rejected, even one signed with an empty secret", async (t) => {
  const bare = await startService({ "auth.service_token_secret": "" });
  t.after(() => bare.stop());
  const header = Buffer.from('{"alg":"none"}').toString("base64url");
  const [, payload] = (await token()).split(".");
  for (const text of [await token(), `${header}.${payload}.`]) {
    assert.equal((await ask(bare.internalUrl, bearer(text))).status, 401);
  }
});

test("the internal plane refuses to start on a reachable address without TLS, and names the setting", async () => {
  for (const address of [":0", "0.0.0.0:0", "[::]:0", "10.0.0.1:0"]) {
    await assert.rejects(
      startService({ "server.internal_addr": address }),
      /^(Config)?Error: server\.internal_addr: .*internal_require_mtls/,
    );
  }
});

test("an address without a certificate, key or authority is rejected with the name of the missing setting", async () => {
  const given = mutualTls();
  for (const missing of ["tls_cert_file", "tls_key_file", "client_ca_file"]) {
    const settings = { ...given, [`server.internal_${missing}`]: "" };
    await assert.rejects(startService(settings), new RegExp(`server\\.internal_${missing}`));
  }
});

function mutualTls(address = "127.0.0.1:0"): Record<string, string> {
  return {
    "server.internal_addr": address,
    "server.internal_require_mtls": "true",
    "server.internal_tls_cert_file": join(folder, "cert.pem"),
    "server.internal_tls_key_file": join(folder, "key.pem"),
    "server.internal_client_ca_file": join(folder, "ca.pem"),
  };
}

/** Calls over TLS; rejects when the handshake fails. */
async function callOverTls(address: string, identity: Partial<Identity>, headers = {}, ca = authority.cert) {
  const request = https.get(`https://${address}${environments}`, { ...identity, ca, headers, agent: false });
  const [response] = await once(request, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode as number, body: JSON.parse(text) };
}

test("with mutual TLS a certificate of the configured authority identifies the service and its tenant", async (t) => {
  const secured = await startService(mutualTls(), service.databaseUrl);
  t.after(() => secured.stop());
  const { address } = secured.service.planes.listeners.internal!;
  const billing = await authority.issue(`CN=billing, O=${tenantId}`);

  const accepted = await callOverTls(address, billing);
  assert.equal(accepted.status, 200);
  assert.equal(accepted.body.data[0].tenant_id, tenantId);

  const session = http2.connect(`https://${address}`, { ca: authority.cert, ...billing });
  const stream = session.request({ ":path": environments });
  const [headers] = await once(stream, "response");
  assert.equal(headers[":status"], 200);
  session.destroy();

  // A certificate without a tenant only authenticates the connection; a token may then name the tenant.
  for (const name of ["CN=billing", `O=${tenantId}`, "CN=billing, O=acme"]) {
    const nameless = await authority.issue(name);
    assert.equal((await callOverTls(address, nameless)).status, 401, name);
    assert.equal((await callOverTls(address, nameless, bearer(await token()))).status, 200);
  }
  // A token must name the same service as the certificate.
  assert.equal((await callOverTls(address, billing, bearer("x"))).status, 401);
  assert.equal((await callOverTls(address, billing, bearer(await token()))).status, 200);
  const elsewhere = await authority.issue("CN=billing, O=01ARZ3NDEKTSV4RRFFQ69G5FAV");
  for (const [identity, claims] of [
    [elsewhere, {}],
    [billing, { sub: "invoices" }],
  ] as const) {
    const disagreeing = await callOverTls(address, identity, bearer(await token(claims)));
    assert.equal(disagreeing.status, 401);
    assert.match(disagreeing.body.detail, /token and the client certificate name different/);
  }
});

test("with mutual TLS the handshake fails without a valid certificate", async (t) => {
  const secured = await startService(mutualTls(), service.databaseUrl);
  t.after(() => secured.stop());
  const { address } = secured.service.planes.listeners.internal!;
  const good = bearer(await token());
  const name = `CN=billing, O=${tenantId}`;
  const strange = await stranger.issue(name);
  const old = await authority.issue(name, { notAfter: new Date(Date.now() - 86_400_000) });
  for (const identity of [{}, strange, old])
    await assert.rejects(callOverTls(address, identity, good), { code: /ERR_SSL|ECONNRESET|EPIPE/ });
  await assert.rejects(fetch(`http://${address}/health`), /fetch failed/);
  // The client can verify the server's certificate.
  await assert.rejects(callOverTls(address, await authority.issue(name), good, stranger.cert), /certificate/);
});

test("with mutual TLS the internal plane may listen on every interface", async (t) => {
  const secured = await startService(mutualTls("0.0.0.0:0"), service.databaseUrl);
  t.after(() => secured.stop());
  const { address } = secured.service.planes.listeners.internal!;
  const billing = await authority.issue(`CN=billing, O=${tenantId}`);
  const { status } = await callOverTls(address.replace("0.0.0.0", "127.0.0.1"), billing);
  assert.equal(status, 200);
});

test("a node with TLS connections stops within its grace period, even with idle connections", async () => {
  const secured = await startService({ ...mutualTls(), "server.shutdown_grace_s": "30" }, service.databaseUrl);
  const { address } = secured.service.planes.listeners.internal!;
  const billing = await authority.issue(`CN=billing, O=${tenantId}`);
  const agent = new https.Agent({ keepAlive: true, ca: authority.cert, ...billing });
  const request = https.get(`https://${address}${environments}`, { agent });
  const [response] = await once(request, "response");
  await once(response.resume(), "end");
  const startedAtMs = performance.now();
  await secured.stop();
  assert.ok(performance.now() - startedAtMs < 15_000, "an idle connection does not delay the stop");
  agent.destroy();
});

test("internal operations are available only on the internal plane", async () => {
  const verify = (baseUrl: string, headers: Record<string, string>) =>
    restClient(baseUrl).call("POST", "/api/v2/api-keys:verify", { secret: key }, headers);
  const inside = await verify(service.internalUrl, bearer(await token()));
  assert.deepEqual([inside.status, inside.body.data.valid], [200, true]);
  for (const name of ["http", "api", "grpc"]) {
    const outside = await verify(addressOf(name), { "x-api-key": key });
    assert.equal(outside.status, 404, name);
  }
});

function addressOf(name: string): string {
  return `http://${service.service.planes.listeners[name]!.address}`;
}

test("api.addr and server.grpc_addr serve the external plane: gRPC, REST and health, with the same keys", async () => {
  for (const name of ["api", "grpc"]) {
    const baseUrl = addressOf(name);
    const client = createClient(EnvironmentService, createGrpcTransport({ baseUrl }));
    const page = await client.listEnvironments({}, { headers: { "x-api-key": key } });
    assert.equal(page.environments[0]!.tenantId, tenantId);
    await assert.rejects(client.listEnvironments({}), /unauthenticated/);
    assert.equal((await ask(baseUrl, { "x-api-key": key })).status, 200);
    assert.equal((await fetch(`${baseUrl}/health`)).status, 200);
  }
});

test("server.metrics_addr serves metrics and health to any Host, and no operation", async () => {
  const metrics = await fetch(`${service.metricsUrl}/metrics`);
  assert.equal(metrics.status, 200);
  assert.match(await metrics.text(), /^# (HELP|TYPE) /m);
  for (const path of ["/health", "/ready"]) assert.equal((await fetch(service.metricsUrl + path)).status, 200);
  for (const path of [environments, "/openapi.yaml", "/docs", "/service.api.EnvironmentService/ListEnvironments"]) {
    assert.equal((await fetch(service.metricsUrl + path, { headers: { "x-api-key": key } })).status, 404, path);
  }
});

test("a listener with an empty address is disabled", async (t) => {
  const small = await startService(
    { "api.addr": "", "server.internal_addr": "", "server.metrics_addr": "" },
    service.databaseUrl,
  );
  t.after(() => small.stop());
  assert.deepEqual(Object.keys(small.service.planes.listeners), ["http"]);
});
