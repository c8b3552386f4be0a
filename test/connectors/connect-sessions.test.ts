import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { before, test } from "node:test";
import { startReceiver } from "../../src/platform/egress/testing/receivers.ts";
import { afterFile } from "../harness/after-file.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { anyAction, type ConnectTenant, connectTenant, issuerManifest } from "./connect-fixture.ts";
import { ScriptlessBrowser } from "./scriptless-browser.ts";

let service: TestService;
let tenant: ConnectTenant;
let sql: TestSql;
/** The keys that the provider accepts, with the account of each. */
const accounts = new Map<string, string>();
/** The status of all answers of the provider; undefined for its own. */
let providerStatus: number | undefined;
const logins: unknown[] = [];

before(async () => {
  service = await startService();
  sql = connect(service.databaseUrl, 2);
  afterFile(() => sql.end({ timeout: 1 }));
  tenant = connectTenant(service);
  const { port } = await startReceiver(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    if (providerStatus !== undefined) return void response.writeHead(providerStatus).end("{}");
    if (request.url === "/login") {
      logins.push(JSON.parse(body));
      return void response.writeHead(200).end(JSON.stringify({ access_token: "key-of-ada", expires_in: 3600 }));
    }
    const { authorization = "", "x-api-key": apiKey } = request.headers;
    const given = apiKey ?? authorization.replace(/^Bearer /, "");
    const account = accounts.get(String(given));
    response.writeHead(account === undefined ? 401 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(account === undefined ? { error: "bad_key" } : { id: account, name: account }));
  });
  accounts.set("key-of-ada", "ada").set("key-of-bob", "bob");
  const account = { method: "GET", path: "/me", id: "/id", label: "/name" };
  await tenant.createProvider({
    ...{ manifest: 1, key: "keyed", version: "1.0.0", name: "Keyed <b>Inc</b>", category: "generic" },
    description: "Accepts keys.",
    docs_url: "https://keyed.example",
    hosts: ["127.0.0.1"],
    base_url: `http://127.0.0.1:${port}`,
    settings: {
      workspace: { title: "Workspace", pattern: "^[a-z]{2,10}$", example: "acme", required: true },
      region: { title: "Region", choices: ["eu", "us"], default: "eu" },
    },
    auth: {
      api_key: {
        fields: { token: { title: "API key" } },
        apply: { headers: { "x-api-key": "{credentials.token}" } },
        account,
      },
      two_step: {
        fields: { user: { title: "User", secret: false }, password: { title: "Password" } },
        token: {
          ...{
            method: "POST",
            url: `http://127.0.0.1:${port}/login`,
            token: "/access_token",
            expires_in: "/expires_in",
          },
          json: { user: "{credentials.user}", password: "{credentials.password}" },
        },
        apply: { headers: { authorization: "Bearer {credentials.access_token}" } },
        account,
      },
    },
    actions: anyAction,
  });
  await tenant.createProvider(issuerManifest({ url: "http://localhost:9" }, "granted"));
  await tenant.createProvider({
    ...{
      manifest: 1,
      key: "plain",
      version: "1.0.0",
      name: "Plain",
      category: "generic",
      description: "Needs nothing.",
    },
    docs_url: "https://plain.example",
    hosts: ["127.0.0.1"],
    base_url: `http://127.0.0.1:${port}`,
    auth: { none: {} },
    actions: anyAction,
  });
});

const filled = { "settings.workspace": "acme", "settings.region": "us", "credentials.token": "key-of-ada" };
const keyed = { allowed_provider_keys: ["keyed"] };

test("a session shows its token once and stores only its hash", async () => {
  const session = await tenant.createSession({ ...keyed, end_user: { id: "u1", email: "ada@example.com" } });
  assert.match(session.token, /^cst_[A-Za-z0-9_-]{43}$/);
  assert.equal(session.connect_url, `${service.baseUrl}/connect/${session.id}#token=${session.token}`);
  assert.equal(session.status, "pending");
  const lifetimeMs = Date.parse(session.expires_at) - Date.parse(session.created_at);
  assert.equal(lifetimeMs, 30 * 60_000);
  const read = await tenant.session(session.id);
  assert.deepEqual([read.token, read.connect_url], [undefined, undefined]);
  const [row] =
    await sql`select row_to_json(s)::text as text from connector_connect_sessions s where id = ${session.id}`;
  assert.ok(!row!.text.includes(session.token));
  const [stored] = await sql`select coalesce(string_agg(r::text, ' '), '') as text from idempotency_records r`;
  assert.ok(!stored!.text.includes(session.token));
});

test("a session is refused with a message that says what to change", async () => {
  const cases: [object, number, RegExp][] = [
    [{}, 400, /allowed_provider_keys: must name at least one provider/],
    [{ allowed_provider_keys: ["nobody"] }, 400, /allowed_provider_keys\[0\]: must be the key of a provider/],
    [{ ...keyed, allowed_origins: ["https://app.example.com/"] }, 400, /allowed_origins\[0\]: must be an origin/],
    [{ ...keyed, success_redirect_uri: "javascript:alert(1)" }, 400, /success_redirect_uri: must be an absolute URL/],
    [{ ...keyed, expires_in_s: 299 }, 400, /expires_in_s/],
    [{ ...keyed, expires_in_s: 14401 }, 400, /expires_in_s/],
    [{ ...keyed, require_completion: true }, 400, /success_redirect_uri: is required with require_completion/],
    [{ ...keyed, end_user: undefined }, 400, /end_user/],
    [{ allowed_provider_keys: ["granted"] }, 412, /granted needs an active provider config/],
    [{ ...keyed, connection_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }, 404, /No such connection/],
    [{ ...keyed, provider_config_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }, 404, /No such provider config/],
    [{ ...keyed, environment_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }, 404, /No such environment/],
  ];
  for (const [request, status, text] of cases) {
    const response = await tenant.call("POST", "/connect-sessions", { end_user: { id: "u1" }, ...request });
    assert.equal(response.status, status, response.text);
    assert.match(response.text, text);
  }
});

test("credentials that the provider accepts become a connection of the end user", async () => {
  const session = await tenant.createSession({
    ...keyed,
    end_user: { id: "u7", email: "ada@example.com", display_name: "Ada <i>L</i>" },
  });
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  assert.equal(page.status, 200);
  assert.match(page.text, /Connect Keyed &#60;b&#62;Inc&#60;\/b&#62;/, "names are escaped");
  assert.match(page.text, /Ada &#60;i&#62;L/);
  assert.match(
    page.text,
    /<input id="settings-workspace" name="settings.workspace" required[^>]*pattern="\^\[a-z\]\{2,10\}\$"/,
  );
  assert.match(page.text, /For example: acme/);
  const done = await browser.submit(page, filled, "/submit");
  assert.match(done.text, /Account connected/);
  const { status, result_connection_id: connectionId } = await tenant.session(session.id);
  assert.equal(status, "completed");
  const connection = await tenant.connection(connectionId);
  assert.equal(connection.name, "Keyed <b>Inc</b> (Ada <i>L</i>)");
  assert.deepEqual(connection.account, { id: "ada", label: "ada" });
  assert.deepEqual(connection.settings, { workspace: "acme", region: "us" });
  assert.equal(connection.end_user.id, "u7");
  assert.equal(connection.auth_mode, "api_key");
  const test = await tenant.must("POST", `/connections/${connectionId}/test`, {});
  assert.equal(test.ok, true);
});

test("credentials that the provider refuses are not stored, and the end user can correct them", async () => {
  const session = await tenant.createSession(keyed);
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  const refused = await browser.submit(page, { ...filled, "credentials.token": "wrong-secret-value" }, "/submit");
  assert.equal(refused.status, 422);
  assert.match(refused.text, /did not accept these values/);
  assert.ok(!refused.text.includes("wrong-secret-value"), "secrets are not shown again");
  assert.match(refused.text, /value="acme"/, "other values are");
  const [row] =
    await sql`select row_to_json(s)::text as text from connector_connect_sessions s where id = ${session.id}`;
  assert.ok(!row!.text.includes("wrong-secret-value"));
  assert.equal((await tenant.session(session.id)).status, "pending");
  await browser.submit(refused, filled, "/submit");
  assert.equal((await tenant.session(session.id)).status, "completed");
});

test("fields are checked by the manifest before the provider is asked", async () => {
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink((await tenant.createSession(keyed)).connect_url);
  const wrong = await browser.submit(
    page,
    { ...filled, "settings.workspace": "NOT OK", "credentials.token": "" },
    "/submit",
  );
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /id="settings-workspace-wrong">The value must have the format/);
  assert.match(wrong.text, /id="credentials-token-wrong">Enter a value/);
  assert.match(wrong.text, /aria-invalid="true" autofocus/);
});

test("a provider that cannot answer leaves the session open", async () => {
  const session = await tenant.createSession(keyed);
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  providerStatus = 503;
  const failed = await browser.submit(page, filled, "/submit");
  providerStatus = undefined;
  assert.match(failed.text, /could not be reached/);
  assert.equal((await tenant.session(session.id)).status, "pending");
});

test("access that the provider has granted is not lost when the database fails while it is stored", async () => {
  const session = await tenant.createSession({ ...keyed, end_user: { id: "u9" } });
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  await sql`create sequence lost_inserts`;
  await sql`
    create function lose_insert() returns trigger language plpgsql as $$
    begin
      if nextval('lost_inserts') <= 2 then raise exception 'lost' using errcode = '08006'; end if;
      return new;
    end $$`;
  await sql`
    create trigger lose_insert before insert on connector_connections for each row execute function lose_insert()`;
  try {
    assert.match((await browser.submit(page, filled, "/submit")).text, /Account connected/);
  } finally {
    await sql`drop trigger lose_insert on connector_connections`;
  }
  const { status, result_connection_id: id } = await tenant.session(session.id);
  assert.deepEqual([status, (await tenant.connection(id)).status], ["completed", "active"]);
});

test("the end user chooses among providers and ways to connect, without scripts", async () => {
  const session = await tenant.createSession({ allowed_provider_keys: ["plain", "keyed"] });
  const browser = new ScriptlessBrowser();
  const choice = await browser.openLink(session.connect_url);
  assert.match(choice.text, /provider=plain/);
  const form = await browser.open(`${service.baseUrl}/connect/${session.id}?provider=keyed&mode=two_step`);
  assert.match(form.text, /credentials\.password" required[^>]*type="password"/);
  const values = { "settings.workspace": "acme", "credentials.user": "ada", "credentials.password": "pass" };
  const done = await browser.submit(form, values, "/submit");
  assert.match(done.text, /Account connected/);
  assert.deepEqual(logins.at(-1), { user: "ada", password: "pass" });
  const { result_connection_id: id } = await tenant.session(session.id);
  assert.equal((await tenant.connection(id)).auth_mode, "two_step");
  const other = await browser.open(`${service.baseUrl}/connect/${session.id}?provider=github`);
  assert.match(other.text, /Account connected/, "a session connects one account");
});

test("a provider that the session does not allow is not connected, whatever the form says", async () => {
  const session = await tenant.createSession(keyed);
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  const forged = await browser.submit(page, { ...filled, provider: "plain", mode: "none" }, "/submit");
  assert.match(forged.text, /Connect Keyed/);
  assert.equal((await tenant.session(session.id)).status, "pending");
});

test("the result goes to the redirect URIs with the session and the error code", async () => {
  const uris = { success_redirect_uri: "https://app.example/ok?x=1", error_redirect_uri: "https://app.example/bad" };
  const browser = new ScriptlessBrowser();
  const good = await tenant.createSession({ ...keyed, ...uris });
  const done = await browser.submit(await browser.openLink(good.connect_url), filled, "/submit");
  const success = `https://app.example/ok?x=1&session_id=${good.id}&status=completed`;
  assert.equal(browser.refreshOf(done), success);
  const again = await browser.open(`${service.baseUrl}/connect/${good.id}`, {}, "https://app.example");
  assert.equal(again.url, success);
  const bad = await tenant.createSession({ ...keyed, ...uris });
  const cancelled = await browser.submit(await browser.openLink(bad.connect_url), {}, "/cancel");
  assert.equal(
    browser.refreshOf(cancelled),
    `https://app.example/bad?session_id=${bad.id}&status=failed&error=cancelled`,
  );
  const { status, error_code: code } = await tenant.session(bad.id);
  assert.deepEqual([status, code], ["failed", "cancelled"]);
});

test("a reconnection keeps the connection, and another account is refused without touching the old grant", async () => {
  const browser = new ScriptlessBrowser();
  const first = await tenant.createSession({ ...keyed, end_user: { id: "u9" } });
  await browser.submit(await browser.openLink(first.connect_url), filled, "/submit");
  const { result_connection_id: connectionId } = await tenant.session(first.id);
  const reconnect = { connection_id: connectionId, end_user: { id: "u9" } };
  const other = await tenant.createSession(reconnect);
  const page = await browser.openLink(other.connect_url);
  assert.match(page.text, /Reconnect Keyed/);
  const mismatch = await browser.submit(page, { ...filled, "credentials.token": "key-of-bob" }, "/submit");
  assert.match(mismatch.text, /another account than the one/);
  assert.equal((await tenant.session(other.id)).error_code, "account_mismatch");
  assert.equal((await tenant.must("POST", `/connections/${connectionId}/test`, {})).account.id, "ada");
  const same = await tenant.createSession(reconnect);
  accounts.set("new-key-of-ada", "ada");
  const fresh = { ...filled, "credentials.token": "new-key-of-ada" };
  await browser.submit(await browser.openLink(same.connect_url), fresh, "/submit");
  assert.equal((await tenant.session(same.id)).result_connection_id, connectionId);
  accounts.delete("key-of-ada");
  assert.equal((await tenant.must("POST", `/connections/${connectionId}/test`, {})).ok, true, "the new key is used");
  accounts.set("key-of-ada", "ada");
  const stranger = await tenant.call("POST", "/connect-sessions", { ...reconnect, end_user: { id: "u10" } });
  assert.match(stranger.text, /end_user.id: must be the end user of the connection/);
});

test("a connection shows the attempts to connect it, also those that ended no session", async () => {
  const browser = new ScriptlessBrowser();
  const first = await tenant.createSession({ ...keyed, end_user: { id: "u11" } });
  await browser.submit(await browser.openLink(first.connect_url), filled, "/submit");
  const { result_connection_id: connectionId } = await tenant.session(first.id);
  const again = await tenant.createSession({ connection_id: connectionId, end_user: { id: "u11" } });
  const page = await browser.openLink(again.connect_url);
  const refused = await browser.submit(page, { ...filled, "credentials.token": "key-of-nobody" }, "/submit");
  await browser.submit(refused, { ...filled, "credentials.token": "key-of-bob" }, "/submit");
  const { attempts } = await tenant.connection(connectionId);
  const shown = attempts.map((each: Record<string, string>) => [each.connect_session_id, each.outcome, each.code]);
  assert.deepEqual(shown, [
    [again.id, "refused", "account_mismatch"],
    [again.id, "refused", "http_401"],
    [first.id, "succeeded", ""],
  ]);
  assert.ok(
    attempts.every((each: Record<string, string>) => each.kind === "connect" && !Number.isNaN(Date.parse(each.at!))),
  );
  assert.doesNotMatch(JSON.stringify(attempts), /key-of/);
});

test("lists are filtered by status and end user, and show expired sessions as expired before the job has run", async () => {
  const endUser = { id: `list-${Date.now()}` };
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push((await tenant.createSession({ ...keyed, end_user: endUser })).id);
  await tenant.must("POST", `/connect-sessions/${ids[1]}/revoke`, {});
  await sql`update connector_connect_sessions set expires_at = now() - interval '1 second' where id = ${ids[2]}`;
  const idsOf = async (query: string) =>
    (await tenant.must("GET", `/connect-sessions?end_user_id=${endUser.id}${query}`)).map(
      ({ id }: { id: string }) => id,
    );
  assert.deepEqual(await idsOf(""), ids);
  assert.deepEqual(await idsOf("&status=pending"), [ids[0]]);
  assert.deepEqual(await idsOf("&status=revoked"), [ids[1]]);
  assert.deepEqual(await idsOf("&status=expired"), [ids[2]]);
  assert.equal((await tenant.session(ids[2])).status, "expired");
});

test("a revoked session ends, with an event, and a second revocation changes nothing", async () => {
  const session = await tenant.createSession(keyed);
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  const revoked = await tenant.must("POST", `/connect-sessions/${session.id}/revoke`, {});
  assert.equal(revoked.status, "revoked");
  const again = await tenant.must("POST", `/connect-sessions/${session.id}/revoke`, {});
  assert.equal(again.record_version, revoked.record_version);
  const late = await browser.submit(page, filled, "/submit");
  assert.match(late.text, /The link was withdrawn/);
  assert.equal((await tenant.session(session.id)).result_connection_id, "");
  const events = await tenant.rest.call("GET", "/api/events?types=connect_session.revoked&limit=200");
  assert.ok(events.body.data.some(({ subject }: { subject: string }) => subject === session.id));
});

test("sessions count attempts, so that nobody tries out credentials", async () => {
  const session = await tenant.createSession(keyed);
  const browser = new ScriptlessBrowser();
  let page = await browser.openLink(session.connect_url);
  for (let n = 0; n < 20; n++)
    page = await browser.submit(page, { ...filled, "credentials.token": `no-${n}` }, "/submit");
  const last = await browser.submit(page, filled, "/submit");
  assert.match(last.text, /too many attempts/);
  assert.equal((await tenant.session(session.id)).error_code, "too_many_attempts");
});

test("a page has a strict policy, is not stored and sends no referrer", async () => {
  const own = await tenant.createSession({
    ...keyed,
    allowed_origins: ["https://app.example.com", "http://localhost:3000"],
  });
  const browser = new ScriptlessBrowser();
  for (const page of [await browser.open(own.connect_url), await browser.openLink(own.connect_url)]) {
    const policy = page.headers.get("content-security-policy")!;
    assert.match(
      policy,
      /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors https:\/\/app\.example\.com http:\/\/localhost:3000$/,
    );
    assert.equal(page.headers.get("x-frame-options"), null);
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.equal(page.headers.get("referrer-policy"), "no-referrer");
    assert.match(page.text, /<html lang="en">/);
  }
  const closed = await browser.open((await tenant.createSession(keyed)).connect_url);
  assert.match(closed.headers.get("content-security-policy")!, /frame-ancestors 'none'$/);
  assert.equal(closed.headers.get("x-frame-options"), "DENY");
  assert.match(closed.text, /<p class="problem">Turn on JavaScript to open this link/);
});

test("entered credentials await the confirmation, sealed, and are stored after it", async () => {
  const uri = "https://app.example/connected";
  const session = await tenant.createSession({ ...keyed, require_completion: true, success_redirect_uri: uri });
  const browser = new ScriptlessBrowser();
  const page = await browser.submit(await browser.openLink(session.connect_url), filled, "/submit");
  const landing = new URL(browser.refreshOf(page));
  assert.equal(landing.searchParams.get("status"), "authorizing");
  const waiting = await tenant.session(session.id);
  assert.deepEqual([waiting.status, waiting.awaiting_completion], ["authorizing", true]);
  const [row] =
    await sql`select row_to_json(s)::text as text from connector_connect_sessions s where id = ${session.id}`;
  assert.ok(!row!.text.includes("key-of-ada"));
  const body = { completion_code: landing.searchParams.get("completion_code"), end_user_id: "u1" };
  const done = await tenant.must("POST", `/connect-sessions/${session.id}/complete`, body);
  assert.equal(done.status, "completed");
  assert.equal((await tenant.must("POST", `/connections/${done.result_connection_id}/test`, {})).ok, true);
});

test("a session without require_completion cannot be completed by a backend", async () => {
  const session = await tenant.createSession(keyed);
  const body = { completion_code: "x".repeat(43), end_user_id: "u1" };
  const response = await tenant.call("POST", `/connect-sessions/${session.id}/complete`, body);
  assert.deepEqual([response.status, response.body.errorCode], [412, "CONNECT_SESSION_INVALID"]);
});

test("a suspended tenant's sessions are not served", async () => {
  const created = await tenant.rest.call("POST", "/api/tenants", { name: "Suspended", issue_admin_key: true });
  const { id, admin_key: key } = created.body.data;
  const own = connectTenant(service, key);
  const session = await own.createSession({ allowed_provider_keys: ["stripe"] });
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  assert.equal(page.status, 200);
  await sql`update tenants set status = 'suspended' where id = ${id}`;
  const address = `${service.baseUrl}/connect/${session.id}`;
  assert.equal((await browser.open(address)).status, 404);
  assert.equal((await browser.submit(page, { "credentials.api_key": "sk_test_1" }, "/submit")).status, 404);
  const unopened = await sql`select attempts from connector_connect_sessions where id = ${session.id}`;
  assert.equal(unopened[0]!.attempts, 0);
});

test("every mode of the manifest language with fields is asked for, proven and connected", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const seen: { url: string; authorization: string }[] = [];
  const { port } = await startReceiver(async (request, response) => {
    await request.toArray();
    seen.push({ url: request.url!, authorization: request.headers.authorization ?? "" });
    const isToken = request.url === "/token";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(isToken ? { access_token: "fetched", token_type: "bearer" } : { id: 7 }));
  });
  const base = `http://127.0.0.1:${port}`;
  const account = { method: "GET", path: "/me", id: "/id" };
  await tenant.createProvider({
    ...{ manifest: 1, key: "modes", version: "1.0.0", name: "Modes", category: "generic", description: "All modes." },
    ...{ docs_url: "https://modes.example", hosts: ["127.0.0.1"], base_url: base },
    auth: {
      oauth2_cc: { token: { url: `${base}/token`, client_auth: "basic" }, account },
      basic: { username: "{credentials.username}", password: "{credentials.password}", account },
      jwt: { token: { url: `${base}/token`, audience: "https://modes.example" }, account },
      aws_sigv4: { service: "sqs", region: "eu-west-1", account },
    },
    actions: anyAction,
  });
  const forms = {
    oauth2_cc: {
      values: { client_id: "app", client_secret: "safe" },
      requests: [/^Basic YXBwOnNhZmU=$/, /^Bearer fetched$/],
    },
    basic: { values: { username: "ada", password: "pass" }, requests: [/^Basic YWRhOnBhc3M=$/] },
    jwt: {
      values: { client_email: "a@b.example", private_key: pem.replaceAll("\n", "\r\n") },
      requests: [/^$/, /^Bearer fetched$/],
    },
    aws_sigv4: {
      values: { access_key_id: "AKIA1", secret_access_key: "safe" },
      requests: [/^AWS4-HMAC-SHA256 Credential=AKIA1\//],
    },
  };
  for (const [mode, { values, requests }] of Object.entries(forms)) {
    const session = await tenant.createSession({ allowed_provider_keys: ["modes"] });
    const browser = new ScriptlessBrowser();
    await browser.openLink(session.connect_url);
    const page = await browser.open(`${service.baseUrl}/connect/${session.id}?mode=${mode}`);
    seen.length = 0;
    const fields = Object.entries(values).map(([name, value]) => [`credentials.${name}`, value]);
    const done = await browser.submit(page, Object.fromEntries(fields), "/submit");
    assert.match(done.text, /Account connected/, `${mode}: ${done.text.slice(done.text.indexOf("<main>"))}`);
    assert.equal(seen.length, requests.length, mode);
    for (const [at, pattern] of requests.entries()) assert.match(seen[at]!.authorization, pattern, mode);
    const { result_connection_id: id } = await tenant.session(session.id);
    const connection = await tenant.connection(id);
    assert.deepEqual([connection.auth_mode, connection.account.id, connection.status], [mode, "7", "active"]);
  }
});

test("behind https the cookie is bound to the host, and a frame of another site gets one of its own", async () => {
  const secure = await startService({ "api.public_url": "https://connect.example" });
  const own = connectTenant(secure);
  const open = async (headers: Record<string, string>) => {
    const session = await own.createSession({ allowed_provider_keys: ["stripe"] });
    assert.ok(session.connect_url.startsWith(`https://connect.example/connect/${session.id}#token=cst_`));
    const response = await fetch(`${secure.baseUrl}/connect/${session.id}/open`, {
      ...{ method: "POST", redirect: "manual", body: new URLSearchParams({ token: session.token }), headers },
    });
    return { id: session.id, cookie: response.headers.get("set-cookie") ?? "", status: response.status };
  };
  const top = await open({ "sec-fetch-site": "same-origin", "sec-fetch-dest": "document" });
  const value = "[A-Za-z0-9_-]{43}";
  const expected = `^__Host-connect-${top.id}=${value}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=14400$`;
  assert.match(top.cookie, new RegExp(expected));
  const framed = await open({ "sec-fetch-site": "same-origin", "sec-fetch-dest": "iframe" });
  assert.match(framed.cookie, /^__Host-.*; Path=\/; HttpOnly; Secure; SameSite=None; Partitioned; Max-Age=14400$/);
  // Browsers without fetch metadata name the origin, or "null" because of the referrer policy.
  assert.equal((await open({ origin: "https://connect.example" })).status, 303);
  assert.equal((await open({ origin: "null" })).status, 303);
  assert.equal((await open({ origin: "https://evil.example" })).status, 403);
  // A cookie with the name for http is not accepted.
  const plain = { cookie: top.cookie.replace("__Host-", "").replace(/;.*/, "") };
  assert.equal((await fetch(`${secure.baseUrl}/connect/${top.id}`, { headers: plain })).status, 403);
  const good = { cookie: top.cookie.replace(/;.*/, "") };
  assert.equal((await fetch(`${secure.baseUrl}/connect/${top.id}`, { headers: good })).status, 200);
  const doubled = { cookie: `${good.cookie}; ${good.cookie}` };
  assert.equal((await fetch(`${secure.baseUrl}/connect/${top.id}`, { headers: doubled })).status, 403);
});
