import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { contextFor, testDatabase } from "../../test/harness/context.ts";
import { readOperations } from "../definitions/index.ts";
import { createCursors } from "../platform/cursor/index.ts";
import { type Call, PrepareAgain, type PreparedHandler } from "./call.ts";
import { createExecutor } from "./execute.ts";

const db = await testDatabase();

/** Runs a mutating operation with a handler of the test. */
function execute(handler: PreparedHandler): Promise<unknown> {
  const operation = readOperations().find(({ id }) => id === "service.api.EnvironmentService/CreateEnvironment")!;
  const { method, service } = operation;
  const run = createExecutor([operation], {
    db,
    clock: { now: Date.now },
    cursors: createCursors(randomBytes(32)),
    timeoutMs: 60_000,
    takeQuota: () => assert.fail("no quota"),
    fingerprintSecret: "",
    recheckAccess: { external: async () => {}, internal: async () => {} },
    handlers: { [service.typeName]: { [method.localName]: handler } },
  });
  const { principal, signal, tenantId } = contextFor(db);
  return run({
    ...{ operation, plane: "external", header: () => undefined, signal, responseHeaders: {}, requestId: "test" },
    ...{ startedAtMs: performance.now(), waitedMs: 0, principal, tenantId, message: create(method.input) },
  } as unknown as Call);
}

test("an operation that prepares again runs the after-commit actions of its last attempt only", async () => {
  const actions: number[] = [];
  let attempts = 0;
  await execute({
    prepare: async () => ++attempts,
    async run(context, _request, attempt) {
      context.afterCommit(() => actions.push(attempt));
      if (attempt < 3) throw new PrepareAgain();
      return {};
    },
  });
  assert.deepEqual([attempts, actions], [3, [3]]);
});
