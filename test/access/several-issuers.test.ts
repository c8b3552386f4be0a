import assert from "node:assert/strict";
import { before, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { audience, type Issuer, startIssuer } from "./issuer.ts";

const otherAudience = "https://partners.switchyard.example";
let first: Issuer;
let second: Issuer;
let stranger: Issuer;
let service: TestService;
let tenantId: string;

before(async () => {
  [first, second, stranger] = await Promise.all([startIssuer(["ada"]), startIssuer(["ada"]), startIssuer(["ada"])]);
  const all = [first, second, stranger];
  afterFile(() => Promise.all(all.map((issuer) => issuer.goDown())).then(() => {}));
  service = await startService({
    "api.oidc_issuer": `${first.url}, ${second.url}`,
    "api.oidc_audience": `${audience}, ${otherAudience}`,
  });
  const created = await restClient(service.baseUrl, service.adminKey).call("POST", "/api/tenants", { name: "Acme" });
  tenantId = created.body.data.id;
});

async function sessionOf(issuer: Issuer, wanted = audience) {
  const token = await issuer.token("ada", { tenant_id: tenantId, roles: ["viewer"] }, wanted);
  const headers = { authorization: `Bearer ${token}` };
  return restClient(service.baseUrl).call("GET", "/api/v2/identity/session", undefined, headers);
}

test("tokens of every issuer in the list are accepted, with any of the audiences, and of no other issuer", async () => {
  for (const issuer of [first, second]) {
    for (const wanted of [audience, otherAudience]) assert.equal((await sessionOf(issuer, wanted)).status, 200);
    assert.equal((await sessionOf(issuer, "https://elsewhere.example")).status, 401);
  }
  assert.equal((await sessionOf(stranger)).status, 401);
});

test("people of two issuers with the same subject are two people", async () => {
  const subjects = await Promise.all([first, second].map(async (each) => (await sessionOf(each)).body.data.subject));
  assert.deepEqual(subjects, ["ada", `${second.url}|ada`]);
});

test("a token of one issuer that another one has signed is refused", async () => {
  const token = await first.forge({ iss: second.url, tenant_id: tenantId, roles: ["admin"] });
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await restClient(service.baseUrl).call("GET", "/api/tenants", undefined, headers)).status, 401);
});

test("an issuer that is down from the start concerns only its own tokens", async () => {
  const fresh = await startService(
    { "api.oidc_issuer": `${first.url},${second.url}`, "api.oidc_audience": audience },
    service.databaseUrl,
  );
  const token = await first.token("ada", { tenant_id: tenantId, roles: ["viewer"] });
  const lost = await second.token("ada", { tenant_id: tenantId, roles: ["viewer"] });
  second.setReachable(false);
  const call = (bearer: string) =>
    restClient(fresh.baseUrl).call("GET", "/api/v2/identity/session", undefined, { authorization: `Bearer ${bearer}` });
  assert.equal((await call(lost)).status, 503);
  assert.equal((await call(token)).status, 200);
  second.setReachable(true);
});
