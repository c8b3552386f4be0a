import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import { readOperations } from "../../definitions/index.ts";
import { Failure } from "../../errors/index.ts";
import { createTools } from "./tools.ts";

const tools = createTools(readOperations());
const listed = new Map(tools.map((tool) => [tool.name, JSON.parse(tool.listed)]));

test("the tools read health, and read and trigger workflows, runs, connectors and pools, in a stable order", () => {
  assert.deepEqual(
    tools.map(({ name }) => name),
    [
      "api_operationalhealthservice_getoperationalhealthreport",
      ...["cancel_workflow_run", "decide_workflow_approval", "execute_action", "explain", "explain_execution"],
      ...["explain_workflow_run", "fire_workflow_trigger", "get_action", "get_connection", "get_decision"],
      ...["get_execution", "get_pool", "get_provider", "get_queue_status", "get_workflow_definition"],
      ...["get_workflow_run", "get_workflow_run_history", "list_actions", "list_connections", "list_decisions"],
      ...["list_executions", "list_pools", "list_providers", "list_recipients", "list_workflow_approvals"],
      ...["list_workflow_dead_letters", "list_workflow_definitions", "list_workflow_runs", "list_workflow_triggers"],
      ...["pause_workflow_run", "replay_workflow_dead_letter", "replay_workflow_run", "resume_workflow_run", "route"],
      ...["signal_workflow_run", "simulate_workflow_run", "start_workflow_run", "test_connection"],
      "validate_workflow_definition",
    ],
  );
});

test("tools that destroy something, decide for a person or act outside say so", () => {
  const withHint = (hint: string) =>
    [...listed].filter(([, { annotations }]) => annotations[hint]).map(([name]) => name);
  assert.deepEqual(withHint("destructiveHint"), ["cancel_workflow_run", "decide_workflow_approval", "execute_action"]);
  assert.deepEqual(withHint("openWorldHint"), ["execute_action", "test_connection"]);
  for (const { name, operation } of tools) {
    const { annotations, title, description } = listed.get(name);
    assert.equal(annotations.readOnlyHint, !operation.governance.mutating, name);
    assert.ok(title !== "" && description !== "", name);
    assert.ok(!annotations.readOnlyHint || annotations.idempotentHint, name);
  }
});

for (const [name, { inputSchema }] of listed) {
  test(`the schema of ${name} is a complete JSON Schema of an object`, () => {
    assert.equal(inputSchema.type, "object");
    // Throws if a reference leads nowhere.
    new Ajv2020({ strict: false, validateFormats: false }).compile(inputSchema);
    assert.doesNotMatch(JSON.stringify(inputSchema), /#\/components\//);
    assert.equal(inputSchema.additionalProperties, false);
    assert.ok(!("page_token" in inputSchema.properties), "pages have their REST names");
  });
}

test("only tools that change something take an idempotency key, and only destructive ones a confirmation", () => {
  for (const { name, operation, isDestructive } of tools) {
    const { properties } = listed.get(name).inputSchema;
    assert.equal("idempotency_key" in properties, operation.governance.mutating, name);
    assert.equal("confirm" in properties, isDestructive, name);
  }
});

test("arguments are read as strictly as the body of a REST request", () => {
  const list = tools.find(({ name }) => name === "list_pools")!;
  assert.equal((list.decode({ limit: 7, cursor: "c" }) as unknown as { pageSize: number }).pageSize, 7);
  for (const wrong of [{ page_size: 7 }, { pageSize: 7 }, { limit: "x" }, { unknown: 1 }, { constructor: 1 }]) {
    assert.throws(() => list.decode(wrong), Failure, JSON.stringify(wrong));
  }
});

test("what cannot be a tool is refused at the start", () => {
  const operations = readOperations();
  const streaming = operations.find((each) => each.streaming)!;
  const { governance } = operations.find((each) => each.governance.mcpTool !== undefined)!;
  assert.throws(() => createTools([{ ...streaming, governance, toolName: "follow" }]), /one request and one response/);
  const read = operations.find(({ id }) => id.endsWith("/ListPools"))!;
  const destructive = { ...read.governance, mcpTool: { ...read.governance.mcpTool!, destructive: true } };
  assert.throws(() => createTools([{ ...read, governance: destructive }]), /not destructive/);
  const many = Array.from({ length: 41 }, (_, i) => ({ ...read, toolName: `tool_${i}` }));
  assert.throws(() => createTools(many), /at most 40/);
  assert.throws(() => createTools([read, read]), /same name/);
});
