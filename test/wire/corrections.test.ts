import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import type { Operation } from "../../src/definitions/index.ts";
import { type Correction, Failure } from "../../src/errors/index.ts";
import { exampleOfMessage } from "../../src/gateway/openapi/examples/examples.ts";
import { applyPatch } from "../../src/platform/corrections/index.ts";
import { applyParams } from "../../src/platform/protojson/index.ts";
import { createRequestReader } from "../../src/platform/validation/index.ts";
import type { Json } from "../harness/operations.ts";
import { sampled, shareText } from "../harness/run-size.ts";
import { restPagingNames, restRequest, send } from "../harness/wire.ts";
import { callerFor, createMatrixFixture, type MatrixFixture, operations } from "../matrix/fixture.ts";
import { type Break, breaks } from "./request-breaks.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

/** How many requests a break has made, how many of them got corrections, and how many were right afterwards. */
interface Tally {
  broken: number;
  corrected: number;
  repaired: number;
  readonly misses: string[];
}

const tallies = new Map<Break, Tally>(breaks.map((each) => [each, { broken: 0, corrected: 0, repaired: 0, misses: [] }]));

/** The parts of an example that the service accepts as a request, and its reader. */
function exampleOf({ method, bindings }: Operation) {
  const read = createRequestReader(method.input);
  const isQuery = bindings[0]!.body !== "*";
  const request = exampleOfMessage(method.input, "request") as Json;
  const check = (json: Json): string => {
    try {
      if (!isQuery) return JSON.stringify(read(json), (_, value) => (typeof value === "bigint" ? `${value}n` : value));
      const params = Object.entries(json).map(([name, value]) => [name, String(value)] as const);
      const wrong = applyParams(method.input, create(method.input), params, "query");
      return wrong.length > 0 ? "" : JSON.stringify(params.sort());
    } catch (error) {
      if (error instanceof Failure) return "";
      throw error;
    }
  };
  return { request, check };
}

const pathNames = ({ bindings }: Operation) =>
  [...bindings[0]!.path.matchAll(/\{([a-z_.]+)\}/g)].map(([, name]) => name!);

/** Applies the corrections of a part of a request. */
function corrected(request: Json, corrections: readonly Correction[]): Json {
  return corrections.reduce((json, { patch = [] }) => applyPatch(json, patch) as Json, request);
}

for (const [turn, operation] of operations.entries()) {
  if (operation.rawBodyBytesMax !== undefined) continue;
  test(`${operation.id} says what it would have accepted${shareText(6, "breaks")}`, async () => {
    const { request, check } = exampleOf(operation);
    const original = check(request);
    if (original === "") return;
    const { baseUrl, headers } = callerFor(fixture.platform, operation);
    const inPath = new Set(pathNames(operation));
    const body = Object.fromEntries(Object.entries(request).filter(([name]) => !inPath.has(name)));
    for (const each of sampled(breaks, 6, turn)) {
      for (const broken of sampled(each.apply(body, operation.method.input), 3, turn)) {
        const whole = { ...request, ...broken };
        for (const name of Object.keys(body)) if (!Object.hasOwn(broken, name)) delete whole[name];
        // What the service accepts would have an effect.
        if (check(whole) !== "") continue;
        const raw = restRequest(operation, whole);
        const { body: answer, code, text } = await send("REST", baseUrl + raw.path, {
          method: raw.method,
          headers: { ...headers, ...raw.headers },
          ...(raw.body !== undefined && { body: raw.body }),
        });
        assert.equal(code, "INVALID_ARGUMENT", text);
        const tally = tallies.get(each)!;
        tally.broken++;
        const corrections: Correction[] = answer.corrections ?? [];
        if (corrections.length === 0) {
          tally.misses.push(`${operation.method.name} none: ${answer.detail}`);
          continue;
        }
        tally.corrected++;
        const result = corrected(whole, corrections);
        if (check(result) === original) tally.repaired++;
        else tally.misses.push(`${operation.method.name}: ${answer.detail} ${JSON.stringify(corrections)}`);
      }
    }
  });
}

test("of the requests that got corrections, 80 % of each kind are the intended ones afterwards", () => {
  for (const [{ name }, { broken, corrected: answered, repaired }] of tallies) {
    assert.ok(repaired >= answered * 0.8, `${name}: ${repaired} of ${answered} are repaired (${broken} broken)`);
  }
});

after(() => {
  const lines = [...tallies].map(
    ([{ name }, { broken, corrected: answered, repaired }]) =>
      `${name.padEnd(32)} ${String(broken).padStart(6)} ${String(answered).padStart(6)} ${String(repaired).padStart(6)}`,
  );
  console.log(["mistake                          broken corrected repaired", ...lines].join("\n"));
  if (process.env.MISSES) for (const [{ name }, { misses }] of tallies) for (const miss of misses.slice(0, 12)) console.log(name, "|", miss.slice(0, 400));
});
void restPagingNames;
