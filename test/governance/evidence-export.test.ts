import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { before, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { artifactOf, createPack, environmentId, sha256, type TestPack } from "./evidence-fixture.ts";

let service: TestService;
let tenant: TenantFixture;
let sandbox: string;
before(async () => {
  service = await startService();
  tenant = await newTenant(service);
  sandbox = await environmentId(tenant, "staging");
});

const workflow = artifactOf("workflow", "order.fulfil");
const keysPath = "/api/rollout-evidence/keys";
const verifyPath = "/api/rollout-evidence/receipts:verify";

/** What must never leave with an export, by where it was planted. */
const planted = {
  secret: "sk_live_51H8aPlantedSecretValue0000",
  storage: "s3://planted-bucket/evidence/7.json?X-Amz-Signature=planted",
  email: "ada.planted@example.com",
  phone: "+44 20 7183 8750",
  payload: "planted raw answer of a provider",
};

async function packWithSecrets(): Promise<TestPack> {
  const pack = await createPack(tenant, sandbox, {
    name: `${planted.secret} for ${planted.email}`,
    description: `Call ${planted.phone}. Stored at ${planted.storage}.`,
  });
  await pack.add({ ...workflow, size_bytes: 12, storage_ref: planted.storage });
  await pack.receipt("graph", [workflow], { details: planted, cases: [{ id: "ends", status: "passed" }] });
  const run = await pack.startRun({ type: "scenario" });
  await pack.receipt("scenario", [], { run_id: run.id, token: run.token, details: { nested: [planted] } });
  const other = await pack.startRun({ type: "scenario" });
  await tenant.ok("POST", `${pack.runPath(other.id)}:cancel`, { reason: planted.payload });
  return pack;
}

/** Verifies a DSSE envelope with the published key, and with nothing of the service. */
function isSigned({ payload_type, payload, signatures }: ResponseData, keys: ResponseData[]): boolean {
  const body = Buffer.from(payload, "base64");
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payload_type.length} ${payload_type} ${body.length} `), body]);
  const [{ keyid, sig }] = signatures;
  const raw = Buffer.from(keys.find(({ id }) => id === keyid).public_key, "base64");
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), raw]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, signed, key, Buffer.from(sig, "base64"));
}

const statementOf = ({ payload }: ResponseData) => JSON.parse(Buffer.from(payload, "base64").toString());

test("an export contains no secret, storage reference, payload or personal data, in no encoding", async () => {
  const pack = await packWithSecrets();
  const { data } = await tenant.ok("POST", `${pack.path}:export`, {});
  assert.equal(data.gate.state, "open");
  assert.equal(data.receipts.length, 2);
  const statements = [data.envelope, ...data.receipts.map(({ envelope }: ResponseData) => envelope)].map(statementOf);
  const text = JSON.stringify([data, statements]);
  const events = JSON.stringify((await tenant.ok("GET", `/api/events?subject=${pack.id}`)).data);
  const explained = JSON.stringify(await pack.explain());
  for (const [where, value] of Object.entries(planted)) {
    for (const exported of [text, events, explained]) {
      assert.ok(!exported.includes(value), where);
      assert.ok(!exported.includes(Buffer.from(value).toString("base64")), where);
    }
  }
  // The tenant's own people still see what they stored.
  const [receipt] = (await tenant.ok("GET", `${pack.path}/receipts`)).data;
  assert.equal(receipt.details.secret, planted.secret);
});

test("a name that would be exported must not contain a credential or personal data", async () => {
  const pack = await createPack(tenant, sandbox);
  for (const name of ["sk_live_51H8aPlantedSecretValue0000", "555-123-4567", "10.20.30.40"]) {
    const artifact = { ...workflow, name };
    const { body } = await tenant.refused("INVALID_ARGUMENT", "POST", `${pack.path}/artifacts`, { artifact });
    assert.match(body.detail, /it is exported/, name);
  }
  for (const name of ["ada@example.com", "s3://bucket/key", "two words"]) {
    const artifact = { ...workflow, name };
    await tenant.refused("INVALID_ARGUMENT", "POST", `${pack.path}/artifacts`, { artifact });
  }
  await pack.add(workflow);
  const receipt = { type: "graph", result: "passed", subjects: [workflow] };
  for (const fields of [
    { cases: [{ id: "ghp_PlantedSecretValue0000", status: "passed" }] },
    { cases: [{ id: "4111-1111-1111-1111", status: "passed" }] },
    { tool: { name: "glpat-PlantedSecretValue0000", version: "1" } },
  ]) {
    await tenant.refused("INVALID_ARGUMENT", "POST", `${pack.path}/receipts`, { ...receipt, ...fields });
  }
});

test("a receipt is an in-toto statement that anybody verifies with the published keys", async () => {
  const pack = await createPack(tenant, sandbox);
  await pack.add(workflow);
  const fields = { cases: [{ id: "ends", status: "passed" }], tool: { name: "linter", version: "1.2.3.4" } };
  const receipt = await pack.receipt("graph", [workflow], { ...fields, details: { note: "x" }, ttl_s: 60 });
  const { body } = await restClient(service.baseUrl).call("GET", keysPath);
  assert.ok(isSigned(receipt.envelope, body.data.keys));
  const text = Buffer.from(receipt.envelope.payload, "base64").toString();
  assert.equal(sha256(text), receipt.digest);
  const statement = JSON.parse(text);
  assert.equal(statement._type, "https://in-toto.io/Statement/v1");
  assert.deepEqual(statement.subject, [{ name: "workflow/order.fulfil@1", digest: { sha256: workflow.sha256 } }]);
  const { predicate, predicateType } = statement;
  assert.equal(predicateType, "urn:switchyard:evidence:receipt:graph:v1");
  assert.deepEqual([predicate.result, predicate.environment_id, predicate.pack_id], ["passed", sandbox, pack.id]);
  assert.equal(predicate.details_sha256, sha256('{"note":"x"}'));
  assert.equal(Date.parse(predicate.expires_at) - Date.parse(predicate.issued_at), 60_000);
});

test("after a rotation new receipts have the new key, and old ones stay verifiable", async () => {
  const pack = await packWithSecrets();
  const platform = restClient(service.baseUrl, service.adminKey);
  const old = (await tenant.ok("GET", `${pack.path}/receipts`)).data[0];
  await tenant.refused("PERMISSION_DENIED", "POST", `${keysPath}:rotate`, {});
  const rotated = await platform.call("POST", `${keysPath}:rotate`, { reason: "test" });
  assert.equal(rotated.status, 200, rotated.text);
  const fresh = await pack.receipt("graph", [workflow]);
  const keyOf = ({ envelope }: ResponseData) => envelope.signatures[0].keyid;
  assert.equal(keyOf(fresh), rotated.body.data.id);
  assert.notEqual(keyOf(old), keyOf(fresh));

  const anybody = restClient(service.baseUrl);
  const { keys } = (await anybody.call("GET", keysPath)).body.data;
  assert.deepEqual(
    keys.slice(0, 2).map(({ id, status }: ResponseData) => [id, status]),
    [
      [keyOf(fresh), "active"],
      [keyOf(old), "retired"],
    ],
  );
  for (const { envelope } of [old, fresh]) {
    assert.ok(isSigned(envelope, keys));
    const { data } = (await anybody.call("POST", verifyPath, { envelope })).body;
    assert.equal(data.valid, true);
    assert.equal(data.statement.predicate.pack_id, pack.id);
  }
  // An export brings every key that it needs.
  const { data: manifest } = await tenant.ok("POST", `${pack.path}:export`, {});
  assert.deepEqual(manifest.keys.map(({ id }: ResponseData) => id).sort(), [keyOf(old), keyOf(fresh)].sort());
  for (const { envelope } of [manifest, ...manifest.receipts]) assert.ok(isSigned(envelope, manifest.keys));
  const { predicate } = statementOf(manifest.envelope);
  assert.deepEqual(
    predicate.receipts_sha256,
    manifest.receipts.map(({ digest }: ResponseData) => digest),
  );
  const events = await platform.call("GET", `/api/events?subject=${keyOf(fresh)}`);
  assert.equal(events.body.data[0].data.retired_key_id, keyOf(old));
});

test("an altered statement, signature, type or key does not verify", async () => {
  const pack = await createPack(tenant, sandbox);
  await pack.add(workflow);
  const { envelope } = await pack.receipt("graph", [workflow], { result: "failed" });
  const statement = statementOf(envelope);
  statement.predicate.result = "passed";
  const [{ keyid, sig }] = envelope.signatures;
  const altered = [
    { ...envelope, payload: Buffer.from(JSON.stringify(statement)).toString("base64") },
    { ...envelope, payload: Buffer.from(` ${JSON.stringify(statementOf(envelope))}`).toString("base64") },
    { ...envelope, payload: "bm90IGpzb24=" },
    { ...envelope, payload_type: "application/json" },
    { ...envelope, signatures: [{ keyid, sig: sig.replace(/^./, sig.startsWith("A") ? "B" : "A") }] },
    { ...envelope, signatures: [{ keyid: "ed25519-unknown", sig }] },
  ];
  const anybody = restClient(service.baseUrl);
  for (const each of altered) {
    const { status, body } = await anybody.call("POST", verifyPath, { envelope: each });
    assert.deepEqual([status, body.data.valid, body.data.statement ?? null], [200, false, null]);
  }
  assert.equal((await anybody.call("POST", verifyPath, { envelope })).body.data.valid, true);
});
