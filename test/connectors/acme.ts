import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { compileManifest } from "../../src/modules/connectors/manifests/index.ts";
import { type MockProvider, startMock } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import type { JsonObject } from "../../src/platform/document/index.ts";
import { afterFile } from "../harness/after-file.ts";
import type { RestResponse } from "../harness/rest.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

const noteInput: JsonObject = {
  type: "object",
  required: ["text"],
  properties: { id: { type: "string" }, text: { type: "string", maxLength: 1000 } },
  additionalProperties: false,
};
const noteOutput: JsonObject = { type: "object", properties: { id: { type: "string" }, text: { type: "string" } } };
const urlSetting = { title: "URL", pattern: "^http://[^?#]+$", example: "http://127.0.0.1:1", required: true };

/** A provider with one action of each kind of safety. */
const acmeManifest: JsonObject = {
  ...{ manifest: 1, key: "acme", version: "1.2.0", name: "Acme", category: "generic", description: "Notes." },
  docs_url: "https://acme.example/docs",
  hosts: ["{settings.base_url}", "{settings.token_url}"],
  base_url: "{settings.base_url}",
  settings: { base_url: urlSetting, token_url: { ...urlSetting, required: false } },
  default_auth: "api_key",
  auth: {
    api_key: {
      fields: { token: { title: "Token" } },
      apply: { headers: { authorization: "Bearer {credentials.token}" } },
    },
    oauth2_cc: {
      fields: { client_id: { title: "Client id", secret: false }, client_secret: { title: "Client secret" } },
      token: { url: "{settings.token_url}/token", client_auth: "basic", format: "form" },
      expires: { default_s: 3600 },
    },
  },
  errors: [{ status: [422], as: "invalid_input", code: "/error/code", message: "/error/message" }],
  actions: {
    // It must not be sent twice.
    "note.add": {
      title: "Add a note",
      mutation: { effect: "create", idempotency: "none" },
      retry: { max_attempts: 3, on: ["rate_limited"] },
      input: noteInput,
      request: { method: "POST", path: "/notes", json: { text: "{input.text}" } },
      output: { id: "/id", text: "/text" },
      output_schema: noteOutput,
    },
    // The provider deduplicates by a key.
    "charge.create": {
      title: "Charge",
      mutation: { effect: "create", idempotency: "key", key_in: { header: "Idempotency-Key" } },
      input: noteInput,
      request: { method: "POST", path: "/charges", json: { text: "{input.text}" } },
      output: { id: "/id", text: "/text" },
      output_schema: noteOutput,
    },
    // Repeating it has no further effect.
    "note.put": {
      title: "Replace a note",
      mutation: { effect: "update", idempotency: "natural" },
      input: { ...noteInput, required: ["id", "text"] },
      request: { method: "PUT", path: "/notes/{input.id}", json: { text: "{input.text}" } },
      output: { id: "/id", text: "/text" },
      output_schema: noteOutput,
    },
    "note.get": {
      title: "Get a note",
      mutation: { effect: "read" },
      response_bytes_max: 300_000,
      input: { type: "object", required: ["id"], properties: { id: { type: "string" } }, additionalProperties: false },
      request: { method: "GET", path: "/notes/{input.id}" },
      output_schema: noteOutput,
    },
    "note.list": {
      title: "List notes",
      mutation: { effect: "search" },
      request: { method: "GET", path: "/notes" },
      paginate: { kind: "cursor", items: "/items", cursor: "/next", param: "cursor", in: "query", max_pages: 3 },
      output: { notes: { $list: "/items", $each: { id: "/id" } } },
      output_schema: { type: "object", properties: { notes: { type: "array", items: noteOutput } } },
    },
    "note.links": {
      title: "List notes by links",
      mutation: { effect: "search" },
      request: { method: "GET", path: "/notes" },
      paginate: { kind: "link", items: "", max_pages: 10 },
      output: { notes: { $list: "", $each: { id: "/id" } } },
      output_schema: { type: "object", properties: { notes: { type: "array", items: noteOutput } } },
    },
    "note.scan": {
      title: "Scan a note",
      mutation: { effect: "create", idempotency: "none" },
      runtime: { status: "catalog_only", reason: "It needs a file." },
      input: noteInput,
    },
  },
};

/** Starts the mock of the provider. */
export async function startAcme(): Promise<MockProvider> {
  const { provider, violations } = compileManifest(acmeManifest);
  assert.deepEqual(violations, []);
  const mock = await startMock(provider!);
  afterFile(() => mock.close());
  return mock;
}

/** A token endpoint: each call gets the next token. */
export async function startTokenServer(): Promise<{ readonly url: string; tokens: string[]; issued: number }> {
  const state = { url: "", tokens: [] as string[], issued: 0 };
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const token = state.tokens[Math.min(state.issued++, state.tokens.length - 1)]!;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: 3600 }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

/** A tenant that can execute the actions of the provider. */
export interface AcmeTenant extends TenantFixture {
  readonly connectionId: string;
  readonly token: string;
  /** Executes an action. */
  execute(action: string, input: object, fields?: object, headers?: Record<string, string>): Promise<RestResponse>;
  execution(id: string): Promise<ResponseData>;
  explain(id: string): Promise<ResponseData>;
  connect(fields: object): Promise<string>;
}

/** Creates a tenant with the manifest and a connection. */
export async function newAcmeTenant(
  node: { readonly baseUrl: string; readonly adminKey: string },
  mock: Pick<MockProvider, "port">,
): Promise<AcmeTenant> {
  const tenant = await newTenant(node);
  await tenant.ok("POST", "/api/v2/connector/manifests", { document: acmeManifest });
  const token = `token-${freshName()}`;
  const settings = { base_url: `http://127.0.0.1:${mock.port}` };
  const connect = async (fields: object) =>
    (
      await tenant.ok("POST", "/api/v2/connector/connections", {
        ...{ name: freshName(), provider_key: "acme", settings, credentials: { token } },
        ...fields,
      })
    ).data.id as string;
  const connectionId = await connect({});
  const executions = "/api/v2/connector/executions";
  return {
    ...tenant,
    ...{ connectionId, token, connect },
    execute: (action, input, fields = {}, headers = {}) =>
      tenant.rest.call(
        "POST",
        `/api/v2/connector/actions/acme.${action}:execute`,
        { connection_id: connectionId, input, ...fields },
        headers,
      ),
    execution: async (id) => (await tenant.ok("GET", `${executions}/${id}`)).data,
    explain: async (id) => (await tenant.ok("GET", `${executions}/${id}:explain`)).data,
  };
}
