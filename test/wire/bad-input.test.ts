import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type DescField, ScalarType } from "@bufbuild/protobuf";
import type { HttpBinding, Operation } from "../../src/definitions/index.ts";
import { catalogue } from "../../src/errors/index.ts";
import type { Json } from "../harness/operations.ts";
import { type Rows, readRows } from "../harness/rows.ts";
import { sampled, shareText } from "../harness/run-size.ts";
import {
  callOperation,
  connectRequest,
  enveloped,
  type Outcome,
  type Protocol,
  protocols,
  restRequest,
  send,
} from "../harness/wire.ts";
import {
  callerFor,
  createMatrixFixture,
  type MatrixFixture,
  operations,
  requestsForAll,
  sharedIds,
} from "../matrix/fixture.ts";

let fixture: MatrixFixture;
let requests: ReadonlyMap<Operation, Json>;
let held: Rows;
before(async () => {
  fixture = await createMatrixFixture();
  requests = await requestsForAll(fixture.platform);
  held = await readRows(fixture.sql);
});

/** A body that no operation accepts, with its description. */
type BadBody = readonly [what: string, body: string | Uint8Array<ArrayBuffer>];

const deep = 100_000;
const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

const badBodies: readonly BadBody[] = [
  ["a truncated object", '{"name": '],
  ["a word", "nonsense"],
  ["a text", '"text"'],
  ["a number", "5"],
  ["a list", "[]"],
  ["two values", "{} {}"],
  ["a comma too many", '{"a": 1,}'],
  ["a comment", "{} // why"],
  ["an unknown field", '{"no_such_field": 1}'],
  ["an empty name", '{"": 1}'],
  ["a field named __proto__", '{"__proto__": {"polluted": true}}'],
  ["a field named constructor", '{"constructor": {"prototype": {"polluted": true}}}'],
  ["a field named toString", '{"toString": 1}'],
  ["a field named hasOwnProperty", '{"hasOwnProperty": 1}'],
  ["lists nested very deep", "[".repeat(deep)],
  ["closed lists nested very deep", `${"[".repeat(deep)}${"]".repeat(deep)}`],
  ["objects nested very deep", `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`],
  ["an unknown field nested deep", `{"x": ${'{"a":'.repeat(500)}1${"}".repeat(500)}}`],
  ["a field given twice", '{"no_such_field": 1, "no_such_field": 1}'],
  ["a field given twice in different spellings", '{"no_such_field": 1, "no\\u005fsuch_field": 1}'],
  ["an integer that a double would change", '{"no_such_field": 9007199254740993}'],
  ["more different keys than allowed", `{${Array.from({ length: 10_001 }, (_, i) => `"k${i}":1`).join()}}`],
  ["a raw U+0000", '{"name": "a\u0000b"}'],
  ["only U+0000", "\u0000\u0000\u0000"],
  ["bytes that are not UTF-8", bytes('{"name": "\xff\xfe"}')],
  ["an overlong encoding", bytes('{"name": "\xc0\xaf"}')],
  ["an encoded surrogate", bytes('{"name": "\xed\xa0\x80"}')],
  ["another encoding", new Uint8Array(Buffer.from("\ufeff{}", "utf16le"))],
  ["a number out of range", '{"no_such_field": 1e999}'],
];

for (const [turn, operation] of operations.entries()) {
  const binding = operation.bindings[0]!;

  test(`${operation.id} rejects every body that is not a request${shareText(15, "bodies")}`, async () => {
    for (const [what, body] of sampled(badBodies, 15, turn)) {
      const raw = connectRequest(operation, {});
      const sent = operation.streaming ? enveloped(Buffer.from(body as string)) : body;
      await refused("Connect", operation, { ...raw, body: sent }, what);
      if (binding.body === "*") await refused("REST", operation, { ...restOf(operation), body }, what);
    }
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  test(`${operation.id} rejects every value of the wrong type in every field${shareText(12, "values")}`, async () => {
    for (const [at, field] of operation.method.input.fields.entries()) {
      for (const value of sampled(valuesOfOtherKinds(field), 12, turn + at)) {
        const message = { ...requests.get(operation), [field.name]: value };
        const what = `${field.name} = ${JSON.stringify(value).slice(0, 40)}`;
        await refused("Connect", operation, connectRequest(operation, message), what);
        if (inBody(binding, field)) await refused("REST", operation, restRequest(operation, message), what);
      }
      if (
        operation.method.input.fields.some(({ jsonName }) => jsonName !== field.name && field.jsonName === jsonName)
      ) {
        const both = { ...requests.get(operation), [field.name]: "1", [field.jsonName]: "1" };
        await refused("Connect", operation, connectRequest(operation, both), `${field.name} under both of its names`);
      }
    }
  });

  test(`${operation.id} rejects unsupported content types and encodings${shareText(3, "types")}`, async () => {
    const body = operation.streaming ? enveloped(Buffer.from("{}")) : "{}";
    const types = ["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/jsonx", "x"];
    for (const type of sampled(types, 3, turn)) {
      const raw = { ...connectRequest(operation, {}), headers: { "content-type": type }, body };
      const outcome = await refused("Connect", operation, raw, type);
      assert.equal(outcome.status, 415, type);
      if (binding.body !== "*") continue;
      const rest = { ...restOf(operation), headers: { "content-type": type }, body: "{}" };
      assert.equal((await refused("REST", operation, rest, type)).code, "UNSUPPORTED_MEDIA_TYPE");
    }
    if (binding.body === "*") {
      const rest = { ...restOf(operation), headers: { "content-encoding": "gzip" }, body: "{}" };
      assert.equal((await refused("REST", operation, rest, "gzip")).code, "UNSUPPORTED_MEDIA_TYPE");
    }
  });

  test(`${operation.id} rejects malformed paths and queries${shareText(6, "texts")}`, async () => {
    const { baseUrl, headers } = callerFor(fixture.platform, operation);
    const ask = (path: string) => send("REST", baseUrl + path, { method: binding.verb, headers });
    const good = restOf(operation).path.split("?")[0]!;
    for (const query of sampled(badQueries, 6, turn)) {
      typed("REST", await ask(`${good}?${query}`), `?${query}`);
    }
    // A field that the caller chooses freely may be any text.
    for (const name of pathVariables(binding).filter((each) => !sharedIds.has(`${operation.id}.${each}`))) {
      for (const [what, text] of sampled(badSegments, 6, turn)) {
        const message = { ...requests.get(operation), [name]: "SEGMENT" };
        const path = restRequest(operation, message)
          .path.replace("SEGMENT", () => text)
          .split("?")[0]!;
        typed("REST", await ask(path), `${name}: ${what}`);
      }
    }
  });

  const extremes = operation.method.input.fields.flatMap((field) =>
    extremesOf(field).map((value) => [field.name, value] as const),
  );
  if (extremes.length > 0) {
    test(`${operation.id} accepts or rejects the extremes of every number and time, and never breaks on one${shareText(2, "protocols")}`, async () => {
      const { baseUrl, headers } = callerFor(fixture.platform, operation);
      for (const [at, [name, value]] of extremes.entries()) {
        for (const protocol of sampled(protocols, 2, turn + at)) {
          const message = { ...requests.get(operation), [name]: value };
          const outcome = await callOperation(protocol, operation, { baseUrl, headers }, message);
          const told = `${protocol}, ${name} = ${value}: ${outcome.text.slice(0, 300)}`;
          const isVersion = name === "record_version";
          assert.ok(isVersion ? outcome.code === "VERSION_CONFLICT" : outcome.status < 500, told);
        }
      }
    });
  }

  if (operation.paging?.kind === "cursor") {
    test(`${operation.id} rejects every cursor that it did not issue${shareText(2, "cursors")}`, async () => {
      const tokens = [
        "x",
        "!!!",
        " ",
        "a".repeat(5000),
        "eyJhIjoxfQ",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "💥",
        "../../etc/passwd",
      ];
      for (const token of sampled(tokens, 2, turn)) {
        for (const [protocol, name] of [
          ["REST", "cursor"],
          ["Connect", "page_token"],
        ] as const) {
          const page = protocol === "REST" ? { cursor: token } : { page_token: token };
          const message = { ...requests.get(operation), ...page };
          const raw = protocol === "REST" ? restRequest(operation, message) : connectRequest(operation, message);
          const outcome = await refused(protocol, operation, raw, token);
          assert.equal(outcome.code, "INVALID_ARGUMENT");
          assert.equal(outcome.violations[0]?.field, name);
        }
      }
    });
  }
}

test("no rejected request changed anything, and the service is healthy", async () => {
  assert.deepEqual(await readRows(fixture.sql), held);
  assert.equal((await fetch(`${fixture.service.baseUrl}/ready`)).status, 200);
});

const badQueries = ["%", "%zz=1", "limit=%ff", "x=%ed%a0%80", "no_such_field=1", "__proto__=1", "=1", "&&=&", "a[b]=1"];

const badSegments: readonly (readonly [string, string])[] = [
  ["a bad percent-encoding", "%"],
  ["a bad percent-encoding", "%zz"],
  ["no UTF-8", "%ff"],
  ["an encoded surrogate", "%ed%a0%80"],
  ["U+0000", "a%00b"],
  ["a very long id", "x".repeat(10_000)],
  ["SQL", "'%3B%20drop%20table%20tenants%3B--"],
  ["an encoded slash", "a%2Fb"],
  ["encoded dots", "%2E%2E%2f%2e%2e"],
  ["a line break", "a%0d%0ab"],
  ["a colon", "a:nothing"],
];

/** The extremes of a field's type; for mutating operations, only the invalid ones. */
function extremesOf(field: DescField): unknown[] {
  if (field.name === "record_version") return ["9223372036854775807", "-9223372036854775808", "2147483648", -1];
  if (field.scalar === ScalarType.INT32 && field.fieldKind === "scalar") return [2 ** 31 - 1, -(2 ** 31)];
  const isFilter = field.name === "since" || field.name === "until";
  return isFilter ? ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2024-12-31T23:59:59+14:00"] : [];
}

function pathVariables({ path }: HttpBinding): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
}

function inBody({ body, path }: HttpBinding, field: DescField): boolean {
  return body === "*" && !path.includes(`{${field.name}}`);
}

/** JSON values that a field of this type must reject. */
function valuesOfOtherKinds(field: DescField): unknown[] {
  const lone = "a\ud800b";
  const beyond = ["1e999", "99999999999999999999999999", -1e300];
  switch (field.fieldKind) {
    case "list":
      // An empty message in a list has the right type; its rules decide whether it is valid.
      return ["text", 5, true, {}, [null], [[]], ...(field.listKind === "message" ? [] : [[{}]]), [true]];
    case "map":
      return ["text", 5, true, [], { "\ud800": {} }, { __proto__: null, "": 5 }];
    case "enum":
      return [true, [], {}, 1.5, "", "status_active", 1e300];
    case "message":
      return messageValues(field.message.typeName);
    default:
      if (field.scalar === ScalarType.STRING) return [5, true, [], {}, lone];
      if (field.scalar === ScalarType.BOOL) return ["true", 5, [], {}];
      if (field.scalar === ScalarType.DOUBLE) return [true, [], {}, "", "0x10", " 1", "1e999"];
      return [true, [], {}, 1.5, "", "1.5", "0x10", " 1", ...beyond];
  }
}

function messageValues(typeName: string): unknown[] {
  switch (typeName) {
    case "google.protobuf.Value":
      return [nested(100), { a: "\ud800" }, ["\u0000"]];
    case "google.protobuf.Struct":
      return ["text", 5, true, [], nested(100), { "\ud800": 1 }, { a: "\u0000" }, { "\u0000": 1 }];
    case "google.protobuf.Timestamp":
      return [5, true, [], {}, "", "now", "2024-13-01T00:00:00Z", "2024-01-01", "0000-01-01T00:00:00Z", "\ud800"];
    default:
      return ["text", 5, true, [], { no_such_field: 1 }];
  }
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}

function restOf(operation: Operation) {
  return restRequest(operation, requests.get(operation)!);
}

/** Sends a request that must be rejected; asserts the form of the error. */
async function refused(
  protocol: Protocol,
  operation: Operation,
  raw: {
    method: string;
    path: string;
    headers: Readonly<Record<string, string>>;
    body?: string | Uint8Array<ArrayBuffer>;
  },
  what: string,
): Promise<Outcome> {
  const { baseUrl, headers } = callerFor(fixture.platform, operation);
  const outcome = await send(protocol, baseUrl + raw.path, {
    method: raw.method,
    headers: { ...headers, ...raw.headers },
    ...(raw.body !== undefined && { body: raw.body }),
  });
  typed(protocol, outcome, `${operation.id}, ${what}`);
  return outcome;
}

/** Asserts that a rejection is a 4xx with a catalogue code, in the form of its protocol. */
function typed(protocol: Protocol, { status, code, headers, text }: Outcome, what: string): void {
  const told = `${protocol}, ${what}: ${status} ${text.slice(0, 500)}`;
  const type = headers.get("content-type") ?? "";
  // A Connect stream starts with status 200 and ends with its error.
  if (!type.startsWith("application/connect+")) assert.ok(status >= 400 && status < 500, told);
  assert.ok(code in catalogue, told);
  const { http } = catalogue[code as keyof typeof catalogue];
  assert.ok(http >= 400 && http < 500, told);
  if (protocol === "REST") assert.equal(type, "application/problem+json", told);
  assert.doesNotMatch(text, /node_modules|\.ts:|at \w+ \(|PostgresError|syntax error at/, told);
}
