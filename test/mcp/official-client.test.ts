import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { restClient } from "../harness/rest.ts";
import { createMatrixFixture, listRequestFor, type MatrixFixture, operations, requestFor } from "../matrix/fixture.ts";
import { type Revision, revisions, version } from "./mcp-client.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture({ "mcp.enabled": "true" });
});

const optionsOf: Record<Revision, ClientOptions> = {
  "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  "2025-11-25": { supportedProtocolVersions: ["2025-11-25"] },
  "2025-06-18": { supportedProtocolVersions: ["2025-06-18"] },
};

/** Runs a test with a connected client. */
async function withClient(options: ClientOptions, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: "test", version: "1" }, options);
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { confirm: true } }));
  const { service, platform } = fixture;
  const url = new URL(`${service.baseUrl}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: platform.admin.headers } }));
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

for (const revision of revisions) {
  // The client validates all that it receives, and the output of tools by their schemas.
  const options = { capabilities: { elicitation: { form: {} } }, ...optionsOf[revision] };

  test(`the official client connects and lists tools in ${revision}`, () =>
    withClient(options, async (client) => {
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      assert.equal(client.getServerVersion()?.version, version);
      const { tools } = await client.listTools();
      assert.ok(tools.length > 30);
      for (const { name, description, annotations } of tools) {
        assert.ok(description, name);
        assert.equal(typeof annotations?.readOnlyHint, "boolean", name);
      }
    }));

  test(`the official client gets the result of every reading tool in ${revision}`, () =>
    withClient(options, async (client) => {
      const { tools } = await client.listTools();
      const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
      for (const { name } of reading) {
        const operation = operations.find(({ toolName }) => toolName === name)!;
        const requestOf = operation.paging === undefined ? requestFor : listRequestFor;
        const args = await requestOf(operation, fixture.platform);
        const result = await client.callTool({ name, arguments: args });
        assert.notEqual(result.isError, true, `${name}: ${JSON.stringify(result.content)}`);
        assert.ok(result.structuredContent, name);
      }
    }));

  test(`the official client starts a run, and a failed call says what is wrong, in ${revision}`, () =>
    withClient(options, async (client) => {
      const start = operations.find(({ id }) => id.endsWith("/StartWorkflowRun"))!;
      const request = await requestFor(start, fixture.platform);
      const { structuredContent } = await client.callTool({ name: "start_workflow_run", arguments: request });
      const { data } = structuredContent as { data: { run: { id: string } } };
      const rest = restClient(fixture.service.baseUrl, fixture.service.adminKey);
      assert.equal((await rest.call("GET", `/api/workflow-runs/${data.run.id}`)).status, 200);
      const failed = await client.callTool({ name: "get_pool", arguments: { pool_id: "unknown" } });
      assert.equal(failed.isError, true);
      await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /Unknown tool: no_such_tool/);
    }));
}

test("the official client asks its user before a destructive tool in the newest revision", () =>
  withClient({ capabilities: { elicitation: { form: {} } }, ...optionsOf["2026-07-28"] }, async (client) => {
    const questions: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { confirm: true } };
    });
    const operation = operations.find(({ id }) => id.endsWith("/CancelWorkflowRun"))!;
    const request = await requestFor(operation, fixture.platform);
    const result = await client.callTool({ name: "cancel_workflow_run", arguments: request });
    assert.notEqual(result.isError, true, JSON.stringify(result.content));
    assert.equal(questions.length, 1);
    assert.match(questions[0]!, /^Cancel a workflow run: /);
  }));

test("the official client finds the newest revision by itself", () =>
  withClient({ capabilities: { elicitation: {} }, versionNegotiation: { mode: "auto" } }, async (client) => {
    assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  }));
