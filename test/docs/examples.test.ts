import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { before, test } from "node:test";
import { promisify } from "node:util";
import type { HttpBinding, Operation } from "../../src/definitions/index.ts";
import { buildOpenApi, type Parameter } from "../../src/gateway/openapi/index.ts";
import { idFields, type Json } from "../harness/operations.ts";
import { restRequest, send } from "../harness/wire.ts";
import { callerFor, createMatrixFixture, type MatrixFixture, operations, requestFor } from "../matrix/fixture.ts";
import { readReferenceSamples } from "./reference-samples.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

const baseUrl = "http://127.0.0.1";
const document = buildOpenApi({
  operations,
  servers: { production: baseUrl, staging: baseUrl, local: baseUrl },
  errorsUrl: `${baseUrl}/errors`,
  version: "2024-01-01",
});

/** A binding's example request as one message: path variables and body. */
function exampleOf(binding: HttpBinding): Json | undefined {
  const path = binding.path.replace(/=[^}]*\}/g, "}");
  const described = document.paths[path]?.[binding.verb.toLowerCase() as "get"];
  if (described === undefined) return undefined;
  const variables = (described.parameters ?? []).flatMap((part) => {
    const { name, in: place, example } = part as Parameter;
    return place === "path" || (place === "query" && example !== undefined) ? [[name, example]] : [];
  });
  const content = described.requestBody && "content" in described.requestBody ? described.requestBody.content : {};
  return { ...Object.fromEntries(variables), ...(content["application/json"]?.example as Json | undefined) };
}

/** Fields that name an existing record, besides ids and path variables. */
const references = [
  "subscriber_ids",
  "lease_token",
  "topic_key",
  "definition",
  "run_key",
  "records",
  "completion_code",
  "plan_key",
  "events",
  "receipt",
  "scores",
  "token",
  "envelope",
  "artifacts",
  "item",
  "workflow_key",
  "integrations",
  "group",
  "lease_token",
];

/** Replaces names in an example with those of existing records, which are created if there are any to replace. */
async function withRecords(operation: Operation, { path }: HttpBinding, example: Json): Promise<Json> {
  const inPath = [...path.matchAll(/\{([^}=]+)/g)].map(([, name]) => name!);
  const names = new Set([...references, ...inPath, ...idFields(operation).map(({ name }) => name)]);
  const named = Object.keys(example).filter((name) => names.has(name));
  const isDraft = operation.id.endsWith("/UpdateWorkflowDefinitionDraft");
  const isRaw = operation.rawBodyBytesMax !== undefined;
  if (named.length === 0 && !isDraft && !isRaw) return example;
  const prepared = await requestFor(operation, fixture.platform);
  const given = named.filter((name) => name in prepared).map((name) => [name, prepared[name]]);
  const records = { ...example, ...Object.fromEntries(given) };
  // A draft keeps the key of its definition.
  if (isDraft) {
    return { ...records, document: { ...(example.document as Json), key: (prepared.document as Json).key } };
  }
  // An example has no raw bytes.
  return isRaw ? { ...records, body: prepared.body } : records;
}

let count = 0;
for (const operation of operations) {
  for (const binding of operation.bindings) {
    const example = exampleOf(binding);
    if (example === undefined || operation.streaming) continue;
    test(`${binding.verb} ${binding.path}: the example in the OpenAPI document is accepted`, async () => {
      const request = await withRecords(operation, binding, example);
      const { method, path, headers, body } = restRequest(operation, request, binding);
      const caller = callerFor(fixture.platform, operation);
      const outcome = await send("REST", caller.baseUrl + path, {
        method,
        headers: { ...caller.headers, ...headers },
        ...(body !== undefined && { body }),
      });
      assert.equal(outcome.status, 200, `${JSON.stringify(request)}\n${outcome.text}`);
    });
    count++;
  }
}

test("every request in the reference is one of these examples", () => {
  const examples = new Set(
    operations.flatMap((operation) =>
      operation.bindings.flatMap((binding) => {
        const example = exampleOf(binding);
        if (example === undefined) return [];
        const { method, path, body } = restRequest(operation, example, binding);
        return [`${method} ${path}${body === undefined || operation.rawBodyBytesMax !== undefined ? "" : ` ${body}`}`];
      }),
    ),
  );
  const folder = "docs/reference/operations";
  const pages = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, "utf8"));
  const shown = pages.flatMap((page) => [...page.matchAll(/```sh\ncurl -X (\w+) "\$BASE_URL([^"]*)"([\s\S]*?)\n```/g)]);
  for (const [, verb, path, rest] of shown) {
    const body = / -d '([\s\S]*)'$/.exec(rest!)?.[1]?.replaceAll("'\\''", "'");
    assert.ok(examples.has(`${verb} ${path}${body === undefined ? "" : ` ${body}`}`), `${verb} ${path} ${body}`);
  }
  assert.ok(shown.length > 100, `${shown.length}`);
});

test("there are examples to send", () => assert.ok(count > 100, `${count}`));

const run = promisify(execFile);
const interpreters = { Python: ["python3", "-c"], curl: ["bash", "-c"] } as const;

for (const [language, [program, flag]] of Object.entries(interpreters)) {
  const isMissing = spawnSync(language === "curl" ? "curl" : program, ["--version"]).error !== undefined;
  const reason = `This machine has no ${program}: the samples for ${language} were not run.`;
  test(`samples of the reference for ${language} run as they are shown`, { skip: isMissing && reason }, async () => {
    const samples = new Map(readReferenceSamples().map((sample) => [sample.object.operationId, sample]));
    const { baseUrl, headers } = callerFor(fixture.platform, operations[0]!);
    const python = { PYTHONPATH: "clients/python", PYTHONDONTWRITEBYTECODE: "1" };
    const env = { ...process.env, ...python, SWITCHYARD_ADDRESS: baseUrl, SWITCHYARD_KEY: headers["x-api-key"] };
    const execute = async (id: string, change: Json = {}, path: Json = {}) => {
      const { values, write } = samples.get(id)!;
      const own = { ...values, path: { ...values.path, ...path } };
      const body = values.body === undefined ? {} : { body: { ...(values.body as Json), ...change } };
      return (await run(program, [flag, write(language as keyof typeof interpreters, { ...own, ...body })!], { env }))
        .stdout;
    };
    const name = `Ada's "${language}" \u00e9`;
    const created = await execute("PoolService_CreatePool", { name });
    assert.ok(created.includes(language), created);
    const poolId = /'?"?id'?"?: ?['"](\w{26})/.exec(created)![1]!;
    assert.match(await execute("PoolService_GetPool", {}, { pool_id: poolId }), new RegExp(poolId));
    assert.match(await execute("PoolService_ListPools"), /weighted_random/);
    await execute("PoolService_DeletePool", {}, { pool_id: poolId });
    await assert.rejects(execute("PoolService_GetPool", {}, { pool_id: "none" }), /404|NOT_FOUND/);
  });
}
