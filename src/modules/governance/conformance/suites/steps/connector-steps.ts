import { createHmac } from "node:crypto";
import type { CaseContext, Json } from "../../sandbox/index.ts";

const base = "/api/v2/connector";
/** The address of cloud metadata services. The egress guard never lets a connection through to it. */
const forbiddenUrl = "https://169.254.169.254";

const input = { type: "object", properties: {}, additionalProperties: false };

/** A provider that exists only in the sandbox and whose address nothing may reach. */
function manifestOf(key: string): object {
  return {
    ...{ manifest: 1, key, version: "1.0.0", name: "Conformance", category: "generic" },
    description: "A provider of the conformance suite.",
    docs_url: "https://conformance.invalid/docs",
    hosts: ["{settings.base_url}", "conformance.invalid"],
    base_url: "{settings.base_url}",
    settings: { base_url: { title: "URL", pattern: "^https://[^?#]+$", example: forbiddenUrl, required: true } },
    default_auth: "api_key",
    auth: {
      api_key: {
        fields: { token: { title: "Token" } },
        apply: { headers: { authorization: "Bearer {credentials.token}" } },
      },
      oauth2: {
        authorize: { url: "https://conformance.invalid/auth" },
        token: { url: "https://conformance.invalid/token", client_auth: "basic" },
        scopes: { default: ["read"], available: { read: "Read" } },
      },
    },
    actions: {
      "thing.get": {
        ...{ title: "Get a thing", mutation: { effect: "read" }, timeout_ms: 5000, input },
        request: { method: "GET", path: "/conformance" },
        output_schema: { type: "object" },
      },
      "thing.scan": {
        ...{ title: "Scan a thing", mutation: { effect: "create", idempotency: "none" }, input },
        runtime: { status: "catalog_only", reason: "It is only described." },
      },
    },
    triggers: {
      "thing.changed": {
        ...{ title: "Thing changed", kind: "webhook", dedup: "body.id" },
        verify: { kind: "hmac", header: "x-signature", over: "{body}" },
        events: [{ when: 'body.type == "changed"', type: "thing.changed" }],
        output: { id: "/id" },
      },
    },
  };
}

/** Creates the provider of the case, and returns its key. */
export async function createProvider(context: CaseContext): Promise<string> {
  const key = context.name().replaceAll("_", "-");
  await context.data("POST", `${base}/manifests`, { document: manifestOf(key) });
  return key;
}

/** The fields of a connection to the provider. */
export function connectionOf(context: CaseContext, providerKey: string, token: string): object {
  const settings = { base_url: forbiddenUrl };
  return { name: context.name(), provider_key: providerKey, settings, credentials: { token } };
}

/** Creates a connection to the provider, and returns its id. */
export async function createConnection(context: CaseContext, providerKey: string, token: string): Promise<string> {
  return (await context.data("POST", `${base}/connections`, connectionOf(context, providerKey, token))).id;
}

/** Creates a provider config as a draft, and returns its id. */
export async function createConfig(context: CaseContext, providerKey: string): Promise<string> {
  const { id } = await context.data("POST", `${base}/provider-configs`, {
    ...{ provider_key: providerKey, name: context.name(), client_id: "conformance" },
    secrets: { client_secret: "conformance" },
    settings: { base_url: forbiddenUrl },
  });
  return id;
}

/** Changes the status of a provider config. */
export function changeConfig(context: CaseContext, id: string, verb: string) {
  return context.send("POST", `${base}/provider-configs/${id}:${verb}`, { body: {} });
}

export function execute(context: CaseContext, action: string, fields: object) {
  return context.send("POST", `${base}/actions/${action}:execute`, { body: { input: {}, ...fields } });
}

/** Requests a connect session for an end user. */
export function requestSession(context: CaseContext, fields: object) {
  return context.send("POST", `${base}/connect-sessions`, { body: { end_user: { id: "conformance" }, ...fields } });
}

/** Opens a connect session as a browser does, and returns whether it got in. */
export async function openSession(context: CaseContext, { id, token }: Json): Promise<boolean> {
  const { header } = await context.send("POST", `/connect/${id}/open`, {
    as: "nobody",
    body: new URLSearchParams({ token }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
  });
  return header("set-cookie") !== "";
}

/** Everything that the service shows about a connection, as text. */
export async function showConnection(context: CaseContext, id: string): Promise<string> {
  const paths = [`${base}/connections/${id}`, `${base}/connections?limit=10`, "/api/events?limit=100"];
  return (await Promise.all(paths.map((path) => context.send("GET", path)))).map(({ text }) => text).join();
}

/** Subscribes to the trigger of the provider, and returns the id of the subscription and how to deliver to it. */
export async function subscribe(context: CaseContext, provider: string, connectionId: string) {
  const secret = "conformance-signing-secret";
  const { id, callback_url } = await context.data("POST", `${base}/trigger-subscriptions`, {
    ...{ name: context.name(), trigger_key: `${provider}.thing.changed`, connection_id: connectionId },
    ...{ signing_secret: secret, target: { record: {} } },
  });
  const body = JSON.stringify({ id: "1", type: "changed" });
  const sign = (key: string) => createHmac("sha256", key).update(body).digest("hex");
  const deliver = (key: string) =>
    context.send("POST", new URL(callback_url).pathname, {
      ...{ as: "nobody" as const, body },
      headers: { "content-type": "application/json", "x-signature": sign(key) },
    });
  return { id: id as string, deliver: () => deliver(secret), deliverForged: () => deliver("another secret") };
}
