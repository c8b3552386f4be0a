import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";
import { type ConnectTenant, connectTenant } from "./connect-fixture.ts";
import { ScriptlessBrowser } from "./scriptless-browser.ts";

// Apart from the attacks on callbacks, because an address is limited after twenty refused requests.
let service: TestService;
let tenant: ConnectTenant;

before(async () => {
  service = await startService();
  tenant = connectTenant(service);
});

const statusOf = async (id: string) => (await tenant.session(id)).status;

test("the enterprise profile requires the confirmation for every session", async () => {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-audit-"));
  afterFile(() => rm(folder, { recursive: true }));
  const strict = await startService({
    security_profile: "enterprise",
    "audit.sink": "file",
    "audit.path": join(folder, "audit.log"),
    "auth.bcrypt_cost": "10",
  });
  const own = connectTenant(strict);
  const missing = await own.call("POST", "/connect-sessions", {
    allowed_provider_keys: ["stripe"],
    end_user: { id: "u1" },
  });
  assert.match(missing.text, /success_redirect_uri: is required with require_completion/);
  const session = await own.createSession({
    allowed_provider_keys: ["stripe"],
    success_redirect_uri: "https://app.example/ok",
  });
  assert.equal(session.require_completion, true);
});

test("foreign origin: forms that another site sends are refused, with and without fetch metadata", async () => {
  const session = await tenant.createSession({ allowed_provider_keys: ["stripe"] });
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  const token = /name="form_token" value="([^"]+)"/.exec(page.text)![1]!;
  const form = { form_token: token, provider: "stripe", mode: "api_key" };
  const submit = `${service.baseUrl}/connect/${session.id}/submit`;
  const evil = "https://evil.example";
  const attempts: { form: Record<string, string>; headers: Record<string, string> }[] = [
    { form, headers: { "sec-fetch-site": "cross-site", origin: evil } },
    { form, headers: { "sec-fetch-site": "same-site" } },
    { form: { ...form, form_token: "" }, headers: { "sec-fetch-site": "same-origin" } },
    { form: { ...form, form_token: "x".repeat(43) }, headers: { "sec-fetch-site": "same-origin" } },
  ];
  for (const { form: sent, headers } of attempts) {
    const response = await browser.open(submit, { method: "POST", form: sent, headers });
    assert.equal(response.status, 403, JSON.stringify(headers));
  }
  assert.equal(await statusOf(session.id), "pending");
  // Without a form token, a foreign page could otherwise open the attacker's session in the victim's browser.
  const planted = await tenant.createSession({ allowed_provider_keys: ["stripe"] });
  const victim = new ScriptlessBrowser();
  await victim.open(`${service.baseUrl}/connect/${planted.id}/open`, {
    method: "POST",
    form: { token: planted.token },
    headers: { "sec-fetch-site": "cross-site", origin: evil },
  });
  assert.equal(victim.cookies.size, 0);
});

test("a form without the cookie of its session is refused", async () => {
  const session = await tenant.createSession({ allowed_provider_keys: ["stripe"] });
  const page = await new ScriptlessBrowser().openLink(session.connect_url);
  const stranger = await new ScriptlessBrowser().submit(page, {}, "/cancel");
  assert.equal(stranger.status, 403);
  assert.equal(await statusOf(session.id), "pending");
});

test("a token opens a session once, and not another session", async () => {
  const session = await tenant.createSession({ allowed_provider_keys: ["stripe"] });
  const second = await tenant.createSession({ allowed_provider_keys: ["stripe"] });
  const open = (id: string, token: string) => {
    const browser = new ScriptlessBrowser();
    const url = `${service.baseUrl}/connect/${id}/open`;
    return browser
      .open(url, { method: "POST", form: { token }, from: url })
      .then(({ status }) => [status, browser.cookies.size]);
  };
  assert.deepEqual(await open(second.id, session.token), [403, 0]);
  assert.deepEqual(await open(session.id, ""), [403, 0]);
  const results = await Promise.all([1, 2, 3].map(() => open(session.id, session.token)));
  assert.equal(results.filter(([, cookies]) => cookies === 1).length, 1, "one of three browsers wins");
});
