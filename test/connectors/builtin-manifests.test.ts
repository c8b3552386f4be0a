import assert from "node:assert/strict";
import { test } from "node:test";
import { validateAuthResponse } from "oauth4webapi";
import { createTokenClient } from "../../src/modules/connectors/connections/tokens/token-client.ts";
import { createAccountProbe } from "../../src/modules/connectors/connections/verification/connection-probe.ts";
import { loadBuiltinProviders } from "../../src/modules/connectors/manifests/catalogue/builtin-providers.ts";
import { readResponse } from "../../src/modules/connectors/manifests/domain/response/read-response.ts";
import type { AccountValues, HttpRequest } from "../../src/modules/connectors/manifests/index.ts";
import { eventsOf } from "../../src/modules/connectors/triggers/intake/delivery-reader.ts";
import type { Json } from "../../src/platform/document/index.ts";

const providers = new Map(loadBuiltinProviders().map((each) => [each.key, each]));
const nowMs = Date.UTC(2026, 0, 1);

/** A provider that answers every request with this body, and keeps the requests. */
function answering(body: Json, status = 200) {
  const requests: HttpRequest[] = [];
  const http = {
    async send(_provider: unknown, _settings: unknown, request: HttpRequest) {
      requests.push(request);
      return { status, headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(body)) };
    },
  };
  return { http, requests };
}

function accountOf(values: Partial<AccountValues> & Pick<AccountValues, "mode">): AccountValues {
  return { settings: {}, captured: {}, account: { id: "", label: "" }, credentials: {}, config: {}, ...values };
}

for (const [key, account, body, expected] of [
  [
    "quickbooks",
    accountOf({
      mode: "oauth2",
      settings: { host: "quickbooks.api.intuit.com" },
      captured: { realm_id: "4620816365" },
      credentials: { access_token: "token-1" },
    }),
    { CompanyInfo: { Id: "1", CompanyName: "Acme" } },
    {
      url: "https://quickbooks.api.intuit.com/v3/company/4620816365/companyinfo/4620816365",
      id: "4620816365",
      label: "Acme",
    },
  ],
  [
    "notion",
    accountOf({ mode: "api_key", credentials: { token: "ntn_test" } }),
    { object: "user", id: "bot-1", type: "bot", bot: { workspace_name: "Acme" } },
    { url: "https://api.notion.com/v1/users/me", id: "bot-1", label: "Acme" },
  ],
  [
    "twilio",
    accountOf({
      mode: "basic",
      settings: { account_sid: "AC00000000000000000000000000000001" },
      credentials: { username: "SK00000000000000000000000000000001", password: "secret-test" },
    }),
    { messages: [], page: 0, page_size: 1 },
    {
      url: "https://api.twilio.com/2010-04-01/Accounts/AC00000000000000000000000000000001/Messages.json?PageSize=1",
      id: "AC00000000000000000000000000000001",
      label: "",
    },
  ],
] as const) {
  test(`a connection of ${key} is verified, and its account is the one that the provider tells apart`, async () => {
    const { http, requests } = answering(body);
    const result = await createAccountProbe(http)(providers.get(key)!, account, nowMs);
    assert.deepEqual(
      [result.kind, result.kind === "ok" && result.accounts],
      ["ok", [{ id: expected.id, label: expected.label, captured: {} }]],
    );
    assert.deepEqual(
      requests.map(({ url }) => url),
      [expected.url],
    );
    const refusing = answering({ message: "no" }, 401);
    const refused = await createAccountProbe(refusing.http)(providers.get(key)!, account, nowMs);
    assert.equal(refused.kind === "failed" && refused.class, "auth_expired");
  });
}

for (const [key, body, accounts] of [
  [
    "jira",
    [
      { id: "cloud-1", name: "one", url: "https://one.atlassian.net", scopes: ["read:jira-work"] },
      { id: "cloud-1", name: "one", url: "https://one.atlassian.net", scopes: ["read:page:confluence"] },
      { id: "cloud-2", name: "two", url: "https://two.atlassian.net", scopes: ["read:jira-work"] },
    ],
    [
      { id: "cloud-1", label: "one", captured: { cloud_id: "cloud-1", site_url: "https://one.atlassian.net" } },
      { id: "cloud-2", label: "two", captured: { cloud_id: "cloud-2", site_url: "https://two.atlassian.net" } },
    ],
  ],
  [
    "xero",
    [
      { id: "link-1", tenantId: "tenant-1", tenantType: "ORGANISATION", tenantName: "One Ltd" },
      { id: "link-2", tenantId: "tenant-2", tenantType: "ORGANISATION", tenantName: "Two Ltd" },
    ],
    [
      { id: "tenant-1", label: "One Ltd", captured: { tenant_id: "tenant-1" } },
      { id: "tenant-2", label: "Two Ltd", captured: { tenant_id: "tenant-2" } },
    ],
  ],
] as const) {
  test(`every site that a grant of ${key} reaches can be chosen`, async () => {
    const account = accountOf({ mode: "oauth2", credentials: { access_token: "token-1" } });
    const probe = createAccountProbe(answering(body as unknown as Json).http);
    assert.deepEqual(await probe(providers.get(key)!, account, nowMs), { kind: "ok", accounts });
    const none = await createAccountProbe(answering([]).http)(providers.get(key)!, account, nowMs);
    assert.equal(none.kind === "failed" && none.code, "no_account");
  });
}

test("Shopify is asked for expiring tokens, which are refreshed with the rotating refresh token", async () => {
  const provider = providers.get("shopify")!;
  const auth = provider.auth("oauth2");
  assert.ok(auth?.mode === "oauth2");
  const { http, requests } = answering({
    access_token: "shpat_2",
    expires_in: 3600,
    refresh_token: "shprt_2",
    scope: "read_orders",
  });
  const account = accountOf({
    ...{ mode: "oauth2", settings: { shop: "acme-store" } },
    config: { client_id: "app", client_secret: "secret of app" },
  });
  const call = { provider, account, scopes: [], nowMs };
  const issuer = "https://acme-store.myshopify.com";
  const parameters = validateAuthResponse({ issuer }, { client_id: "app" }, new URLSearchParams({ code: "c1" }));
  const callback = { parameters, redirectUri: "https://a.example/", codeVerifier: undefined };
  const tokens = createTokenClient(http);
  const granted = await tokens.exchangeCode(auth, call, callback);
  assert.deepEqual([granted.kind, granted.kind === "granted" && granted.refreshToken], ["granted", "shprt_2"]);
  assert.equal(JSON.parse(String(requests[0]!.body)).expiring, "1");
  assert.equal(auth.refresh.mode, "rotate");
  assert.equal((await tokens.refresh(auth, call, "shprt_2")).kind, "granted");
  const { grant_type, refresh_token } = JSON.parse(String(requests[1]!.body));
  assert.deepEqual([grant_type, refresh_token], ["refresh_token", "shprt_2"]);
});

test("Slack's message.posted is no event for edited and deleted messages and for those of the app itself", () => {
  const provider = providers.get("slack")!;
  const trigger = provider.triggers.get("message.posted")!;
  const eventCount = (event: object) => {
    const message = { type: "message", channel: "C1", user: "U1", text: "Hello", ts: "1767225600.000100", ...event };
    const body = { type: "event_callback", api_app_id: "A1", event_id: "Ev1", event: message } as Json;
    const delivery = { method: "POST", headers: {}, rawBody: Buffer.alloc(0), url: "", query: {}, body } as const;
    return eventsOf(trigger, delivery, {})!.length;
  };
  for (const event of [
    {},
    { subtype: "file_share" },
    { subtype: "thread_broadcast" },
    { bot_id: "B2", app_id: "A2" },
  ]) {
    assert.equal(eventCount(event), 1, JSON.stringify(event));
  }
  for (const event of [
    { subtype: "message_changed", message: { text: "Hello!" } },
    { subtype: "message_deleted", deleted_ts: "1767225600.000100" },
    { subtype: "channel_join" },
    { bot_id: "B1", app_id: "A1" },
    { subtype: "bot_message", bot_id: "B1", bot_profile: { app_id: "A1" } },
  ]) {
    assert.equal(eventCount(event), 0, JSON.stringify(event));
  }
  const auth = provider.auth("oauth2");
  assert.ok(auth?.mode === "oauth2" && auth.scopes.available.has("groups:history"), "for private channels");
});

test("Zendesk's tickets are polled page by page until the end of the stream", () => {
  const provider = providers.get("zendesk")!;
  const { poll, errors } = provider.triggers.get("ticket.updated")!;
  const paginate = { ...poll!.paginate!, items: poll!.items, maxPages: 1000 };
  const next = "https://acme.zendesk.com/api/v2/incremental/tickets/cursor?cursor=c1";
  const read = (isLast: boolean) => {
    const body = { tickets: [{ id: 1 }], after_url: next, after_cursor: "c1", end_of_stream: isLast };
    const answer = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) };
    const result = readResponse(provider, { errors, paginate }, answer, { nowMs });
    return result.class === "ok" ? result.nextPage?.next : result;
  };
  assert.deepEqual(read(false), { kind: "url", url: next });
  assert.equal(read(true), undefined);
});
