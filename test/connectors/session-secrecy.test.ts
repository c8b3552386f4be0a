import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { anyAction, authorizeAt, connectTenant, depart, issuerManifest } from "./connect-fixture.ts";
import { startOAuthIssuer } from "./oauth-issuer.ts";
import { ScriptlessBrowser } from "./scriptless-browser.ts";

test("tokens, cookies, states, codes and entered credentials appear in no log, event, metric, audit entry or plain column", async (t) => {
  const issuer = await startOAuthIssuer();
  const database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), "switchyard-secrecy-"));
  const audit = join(folder, "audit.log");
  const node = await startNodeProcess({
    "database.url": database.url,
    "auth.bootstrap_api_key": "sk_test_secrecy_0123456789abcdef",
    "connector.encryption_key": randomBytes(32).toString("base64"),
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
  const tenant = connectTenant(node);
  const secrets: Record<string, string> = {};
  const places: [string, string][] = [];

  /** Searches all tables, which is also done while a session is open. */
  const search = async (when: string) => {
    const tables = await database.sql<{ name: string }[]>`
      select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;
    for (const { name } of tables) {
      const rows = await database.sql.unsafe(`select t::text as line from "${name}" t`);
      places.push([`table ${name} ${when}`, rows.map(({ line }) => line).join("\n")]);
    }
  };

  const { hosts: _, ...manifest } = issuerManifest(issuer, "acme") as { hosts: string[]; auth: object };
  const apiKey = {
    fields: { token: { title: "Token" } },
    apply: { headers: { "x-api-key": "{credentials.token}" } },
    account: { method: "GET", path: "/keyed", id: "/id" },
  };
  const auth = { ...manifest.auth, api_key: apiKey };
  await tenant.createProvider({ ...manifest, hosts: ["localhost"], auth, actions: anyAction });
  const config = await tenant.createConfig("acme", "app-1");
  issuer.register(config);
  const uri = "https://app.example/connected";
  const request = { allowed_provider_keys: ["acme"], require_completion: true, success_redirect_uri: uri };

  const session = await tenant.createSession(request);
  secrets.token = session.token;
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  secrets.cookie = browser.cookies.get(`127.0.0.1 connect-${session.id}`)!;
  const address = await depart(browser, page);
  secrets.state = new URL(address).searchParams.get("state")!;
  const callback = await authorizeAt(browser, address, { callback: config.redirectUri });
  secrets.code = new URL(callback).searchParams.get("code")!;
  const landing = await browser.open(callback, {}, uri);
  secrets.completionCode = new URL(landing.url).searchParams.get("completion_code")!;
  await search("while the code is held");
  const body = { completion_code: secrets.completionCode, end_user_id: "u1" };
  const done = await tenant.must("POST", `/connect-sessions/${session.id}/complete`, body);
  assert.equal(done.status, "completed");
  secrets.codeVerifier = issuer.tokenRequests.at(-1)!.get("code_verifier")!;

  const keyed = await tenant.createSession(request);
  secrets.entered = `entered-${randomBytes(16).toString("hex")}`;
  const other = new ScriptlessBrowser();
  await other.openLink(keyed.connect_url);
  const form = await other.open(`${node.baseUrl}/connect/${keyed.id}?mode=api_key`);
  const held = await other.submit(form, { "credentials.token": secrets.entered }, "/submit");
  other.refreshOf(held);
  await search("while credentials are held");
  const refused = await tenant.createSession({ allowed_provider_keys: ["acme"] });
  await other.openLink(refused.connect_url);
  const wrong = await other.open(`${node.baseUrl}/connect/${refused.id}?mode=api_key`);
  assert.equal((await other.submit(wrong, { "credentials.token": "refused" }, "/submit")).status, 422);

  await search("at the end");
  places.push(["log", node.output()], ["audit", await readFile(audit, "utf8")]);
  places.push(["metrics", (await tenant.rest.call("GET", "/metrics")).text]);
  places.push(["sessions", (await tenant.call("GET", "/connect-sessions")).text]);
  places.push(["events", (await tenant.rest.call("GET", "/api/events?limit=1000")).text]);
  assert.match(places.at(-1)![1], /connect_session\.completed/);
  for (const [kind, secret] of Object.entries(secrets)) {
    assert.ok(secret.length > 20, kind);
    const forms = [secret, Buffer.from(secret).toString("base64").slice(0, -4), encodeURIComponent(secret)];
    for (const [place, text] of places) {
      for (const each of forms) assert.ok(!text.includes(each), `${kind} is in ${place}`);
    }
  }
});
