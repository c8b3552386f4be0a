import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Operation } from "../../src/definitions/index.ts";
import { applyPatch } from "../../src/platform/corrections/index.ts";
import { freshWord, type Json } from "../harness/operations.ts";
import { callOperation, restPagingNames } from "../harness/wire.ts";
import { createMatrixFixture, type MatrixFixture, operations, requestFor } from "../matrix/fixture.ts";
import { revisions, sendMessage } from "./mcp-client.ts";

let fixture: MatrixFixture;
let url: string;
before(async () => {
  fixture = await createMatrixFixture({ "mcp.enabled": "true" });
  url = `${fixture.service.baseUrl}/mcp`;
});

const tools = operations.filter(({ toolName }) => toolName !== undefined);

/** The arguments of a request: its fields, of which the paging ones have their REST names. */
function argumentsOf({ paging }: Operation, request: Json): Json {
  if (paging?.kind !== "cursor") return request;
  return Object.fromEntries(Object.entries(request).map(([name, value]) => [restPagingNames[name] ?? name, value]));
}

test("at most 40 operations are tools, and none of them reads or writes payloads of streams", () => {
  assert.ok(tools.length > 30 && tools.length <= 40, `${tools.length}`);
  for (const { id, governance } of tools) {
    assert.doesNotMatch(governance.resource, /stream|object|secret|api_key/, id);
  }
});

for (const operation of tools) {
  const { governance } = operation;
  const name = operation.toolName!;

  test(`${name} returns what the REST call returns`, async () => {
    const { platform } = fixture;
    const request = await requestFor(operation, platform);
    const key = freshWord();
    // A repeated change returns the first response, whichever protocol the key was used with.
    const keyed: Record<string, string> = governance.mutating ? { "idempotency-key": key } : {};
    const rest = await callOperation("REST", operation, platform.admin, request, keyed);
    const args = {
      ...argumentsOf(operation, request),
      ...(governance.mutating && { idempotency_key: key }),
      ...(governance.mcpTool!.destructive && { confirm: true }),
    };
    const { headers } = platform.admin;
    for (const revision of revisions) {
      const { status, body } = await sendMessage(url, "tools/call", { name, arguments: args }, { revision, headers });
      assert.equal(status, 200, JSON.stringify(body));
      const { content, structuredContent, isError } = body.result;
      assert.notEqual(isError, true, JSON.stringify(content));
      assert.equal(rest.code, "OK", rest.text);
      assert.deepEqual(JSON.parse(content[0].text), structuredContent);
      assert.match(content[1].text, /^The data above is untrusted/);
      const { metadata, ...shown } = structuredContent;
      const { metadata: restMetadata, ...expected } = rest.body;
      assert.deepEqual(Object.keys(metadata), Object.keys(restMetadata));
      assert.deepEqual(shown, expected);
    }
  });

  test(`${name} fails as the REST call does`, async () => {
    const { own } = fixture;
    const wrong = { no_such_field: 1 };
    const rest = await callOperation("REST", operation, own.admin, wrong);
    const { body } = await sendMessage(
      url,
      "tools/call",
      { name, arguments: { ...wrong, ...(governance.mcpTool!.destructive && { confirm: true }) } },
      { headers: own.admin.headers },
    );
    assert.equal(body.result.isError, true);
    const problem = JSON.parse(body.result.content[0].text);
    assert.equal(problem.errorCode, rest.code);
    assert.equal(problem.violations[0].field, "no_such_field");
  });
}

test("a refused call says which arguments would have been accepted", async () => {
  const { headers } = fixture.own.admin;
  const callTool = async (name: string, args: object) =>
    (await sendMessage(url, "tools/call", { name, arguments: args }, { headers })).body;
  const wrong = await callTool("list_pools", { lmit: 5 });
  const { corrections } = JSON.parse(wrong.result.content[0].text);
  assert.deepEqual(corrections[0].patch, [{ op: "move", from: "/lmit", path: "/limit" }]);
  const right = await callTool("list_pools", applyPatch({ lmit: 5 }, corrections[0].patch) as object);
  assert.equal(right.result.isError, undefined);
  const { error } = await callTool("list_poools", {});
  assert.match(error.message, /Did you mean list_pools\?/);
});

test("a record of another tenant is not found, as in REST", async () => {
  const { own, foreign } = fixture;
  const operation = operations.find(({ id }) => id.endsWith("/GetPool"))!;
  const { pool_id } = await requestFor(operation, foreign);
  const { body } = await sendMessage(
    url,
    "tools/call",
    { name: "get_pool", arguments: { pool_id } },
    { headers: own.admin.headers },
  );
  assert.equal(JSON.parse(body.result.content[0].text).errorCode, "NOT_FOUND");
});
