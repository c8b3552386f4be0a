import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { oauth2On, providerDocument } from "../../src/modules/connectors/connections/testing/connection-nodes.ts";
import { json, startTokenServer } from "../../src/modules/connectors/connections/testing/token-server.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

const plant = (kind: string) => `planted-${kind}-${randomBytes(12).toString("hex")}`;

test("tokens and secrets of connections appear in no log, event, metric, response, audit entry or plain column", async (t) => {
  const server = await startTokenServer();
  const database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), "switchyard-secrecy-"));
  const audit = join(folder, "audit.log");
  const node = await startNodeProcess({
    "database.url": database.url,
    "auth.bootstrap_api_key": "sk_test_secrecy_0123456789abcdef",
    "connector.encryption_key": randomBytes(32).toString("base64"),
    "egress.allowed_ip_nets": "127.0.0.0/8",
    "audit.sink": "file",
    "audit.path": audit,
    "log.level": "debug",
    "api.slow_request_ms": "0",
  });
  t.after(async () => {
    await node.kill();
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });
  const rest = restClient(node.baseUrl, node.adminKey);
  const told: string[] = [];
  const ask = async (method: string, path: string, body?: object, headers?: Record<string, string>) => {
    const answer = await rest.call(method, path, body, headers);
    told.push(`${method} ${path} ${answer.status} ${answer.text}`);
    return answer;
  };
  const base = "/api/v2/connector";
  const secrets = {
    ...{ client: plant("client"), rotated: plant("rotated"), access: plant("access"), refresh: plant("refresh") },
    ...{ nextAccess: plant("next-access"), nextRefresh: plant("next-refresh"), key: plant("key") },
  };

  const document = providerDocument(server.port, { auth: { ...modesOf(server.port) } });
  assert.equal((await ask("POST", `${base}/manifests`, { document })).status, 200);
  const { body: config } = await ask("POST", `${base}/provider-configs`, {
    ...{ provider_key: "acme", name: "App", client_id: "app", secrets: { client_secret: secrets.client } },
  });
  const configPath = `${base}/provider-configs/${config.data.id}`;
  await ask("POST", `${configPath}:activate`, {});
  await ask("PATCH", configPath, { secrets: { client_secret: secrets.rotated } }, { "idempotency-key": "k1" });
  await ask("PATCH", configPath, { secrets: { client_secret: secrets.rotated } }, { "idempotency-key": "k1" });
  await ask("PATCH", configPath, { secrets: { "not a name": secrets.client } });

  const create = (credentials: object, more: object = {}) =>
    ask("POST", `${base}/connections`, { name: "Acme", provider_key: "acme", credentials, ...more });
  const grant = { auth_mode: "oauth2", provider_config_id: config.data.id };
  const { body: made } = await create({ access_token: secrets.access, refresh_token: secrets.refresh }, grant);
  const path = `${base}/connections/${made.data.id}`;
  await create({ acess_token: secrets.access }, grant);
  const { body: keyed } = await create({ token: secrets.key });

  // The provider repeats what it was sent, as some do.
  server.script = ({ authorization, fields }, response) => {
    json(response, 400, { error: "failed", error_description: `${authorization} ${JSON.stringify(fields)}` });
    return true;
  };
  await ask("POST", `${path}/refresh`, {});
  await ask("POST", `${base}/connections/${keyed.data.id}/test`, {});
  server.script = ({ path: place, fields }, response) => {
    if (place !== "/token") return undefined;
    assert.equal(fields.refresh_token, secrets.refresh);
    assert.equal(fields.client_secret, secrets.rotated);
    json(response, 200, { access_token: secrets.nextAccess, refresh_token: secrets.nextRefresh, expires_in: 1 });
    return true;
  };
  assert.equal((await ask("POST", `${path}/refresh`, {}, { "idempotency-key": "k2" })).status, 200);
  await ask("POST", `${path}/refresh`, {}, { "idempotency-key": "k2" });
  // The next refresh is refused, so that the connection needs reauthorization.
  server.script = ({ fields }, response) => {
    json(response, 400, { error: "invalid_grant", error_description: JSON.stringify(fields) });
    return true;
  };
  await ask("POST", `${path}/refresh`, {});
  for (const read of [path, `${base}/connections`, configPath, `${base}/provider-configs`, "/api/events?limit=1000"]) {
    await ask("GET", read);
  }
  const { body: events } = await ask("GET", "/api/events?limit=1000");
  const types = events.data.map(({ type }: { type: string }) => type);
  assert.ok(types.includes("connection.needs_reauth"));
  await ask("POST", `${path}/revoke`, {});
  await ask("POST", `${base}/connections/${keyed.data.id}/revoke`, {});
  server.script = undefined;
  const revocation = async () => (await rest.call("GET", path)).body.data.provider_revocation as string;
  await until(revocation, (state) => state !== "pending");
  told.push((await rest.call("GET", "/metrics")).text);

  const tables = await database.sql<{ name: string }[]>`
    select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;
  const places: [string, string][] = [
    ["responses", told.join("\n")],
    ["log", node.output()],
    ["audit", await readFile(audit, "utf8")],
  ];
  for (const { name } of tables) {
    const rows = await database.sql.unsafe(`select t::text as line from "${name}" t`);
    places.push([`table ${name}`, rows.map(({ line }) => line).join("\n")]);
  }
  assert.ok(places.length > 50);
  for (const [kind, secret] of Object.entries(secrets)) {
    const forms = [secret, Buffer.from(secret).toString("base64").slice(0, -4), encodeURIComponent(secret)];
    for (const [place, text] of places) {
      for (const form of forms) assert.ok(!text.includes(form), `${kind} is in ${place}`);
    }
  }
});

function modesOf(port: number) {
  return {
    oauth2: oauth2On(port),
    api_key: {
      fields: { token: { title: "Token" } },
      apply: { headers: { authorization: "Bearer {credentials.token}" } },
      account: { method: "GET", path: "/me", id: "/id", label: "/login" },
    },
  };
}
