import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { createValidator as createReferenceValidator } from "@bufbuild/protovalidate";
import { services } from "../../../gen/services.ts";
import { fc } from "../../../test/harness/random.ts";
import { keySegment } from "../protojson/index.ts";
import { arbitraryMessage, trickyText } from "../protojson/testing/arbitrary.ts";
import { isEmail, isUri } from "./formats.ts";
import { createValidator } from "./index.ts";
import { everyRule } from "./testing/rule-definitions.ts";

const oracle = createReferenceValidator();
const requests = services.flatMap((service) => service.methods.map((method) => method.input));
const violationsMax = 20;

// Strings around the rules: valid ones, ones just beyond a bound, and ones that only look valid.
const likely = fc.constantFrom(
  ...[
    "",
    "a",
    "ab",
    "abcd",
    "abcde",
    "a c",
    "a\n",
    "a\r",
    "a\u2028",
    "a\u00a0",
    "a b",
    "😀",
    "😀😀😀😀",
    "😀😀😀😀😀",
    "ééé",
    "éééé",
  ],
  ...[
    "any",
    "production_only",
    "route",
    "api.call",
    "admin",
    "tenant:write",
    "*:*",
    "tenant:*",
    "tenant.created",
    "a.b.*",
  ],
  ...[
    "a@b.c",
    "a@b",
    "@b.c",
    "a b@c.d",
    "a@-b.c",
    "https://example.com/a?b#c",
    "https://[::1]:80/",
    "mailto:a@b",
    "/a",
    "x:",
  ],
  ...[
    "x".repeat(64),
    "x".repeat(65),
    "x".repeat(200),
    "x".repeat(201),
    "x".repeat(256),
    "\\",
    '"',
    "constructor",
    "__proto__",
  ],
);
const text = fc.oneof({ weight: 4, arbitrary: likely }, trickyText);

/** The violations that protovalidate finds, as sorted `path rule` strings. */
function expected(desc: DescMessage, message: Message): string[] {
  const result = oracle.validate(desc, message);
  assert.notEqual(result.kind, "error", String(result.error));
  return (result.violations ?? []).map((violation) => `${pathText(violation.field)} ${violation.ruleId}`).sort();
}

function pathText(path: readonly { kind: string; name?: string; index?: number; key?: unknown }[]): string {
  return path
    .map(({ kind, name, index, key }, i) => {
      if (kind === "list_sub") return `[${index}]`;
      if (kind === "map_sub") return keySegment(key as string, true);
      return i === 0 ? name : `.${name}`;
    })
    .join("");
}

function agrees(desc: DescMessage, message: Message): void {
  const theirs = expected(desc, message);
  const ours = createValidator(desc)(message).map(({ field, rule }) => `${field} ${rule}`);
  if (theirs.length <= violationsMax) {
    assert.deepEqual(ours.sort(), theirs);
  } else {
    assert.equal(ours.length, violationsMax);
    for (const violation of ours) assert.ok(theirs.includes(violation), violation);
  }
}

suite("validation against protovalidate, with random messages", () => {
  for (const desc of requests) {
    test(`${desc.typeName} has the same violations as in protovalidate`, () => {
      const messages = arbitraryMessage(desc, { text, itemsMax: 5 });
      const crowded = arbitraryMessage(desc, { text, itemsMax: 60 });
      fc.assert(
        fc.property(messages, (message) => agrees(desc, message)),
        { numRuns: 60 },
      );
      fc.assert(
        fc.property(crowded, (message) => agrees(desc, message)),
        { numRuns: 10 },
      );
    });
  }

  test("a definition with every rule on every kind of field has the same violations as in protovalidate", () => {
    const desc = everyRule();
    const flat = arbitraryMessage(desc, { text, itemsMax: 4, depth: 1 });
    const nested = arbitraryMessage(desc, { text, itemsMax: 2, depth: 2 });
    fc.assert(
      fc.property(flat, (message) => agrees(desc, message)),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(nested, (message) => agrees(desc, message)),
      { numRuns: 30 },
    );
  });

  test("random text is an email address or a URI exactly if protovalidate accepts it", () => {
    const desc = everyRule();
    const pieces = fc.constantFrom(
      ..."ab1:/?#[]@!$&'()*+,;=-._~%{} \\|^`\"<>é".split(""),
      "%41",
      "%ff",
      "://",
      "::1",
      "%25",
      "v1.x",
    );
    const built = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
    const uris = fc.oneof(
      built,
      built.map((rest) => `h:${rest}`),
      built.map((rest) => `http://${rest}`),
      fc.webUrl({ withFragments: true }),
    );
    const hosts = fc.oneof(
      fc.ipV6().map((ip) => `http://[${ip}]/`),
      fc.stringMatching(/^[0-9a-f:]{1,20}$/).map((ip) => `x://[${ip}%25a]`),
    );
    const emails = fc.oneof(
      built.map((name) => `${name}@b.c`),
      built.map((host) => `a@${host}`),
      fc.emailAddress(),
    );
    const one = (field: "uri" | "email", value: string) => {
      const message = { ...create(desc), [field]: value } as Message;
      return expected(desc, message).every((violation) => !violation.startsWith(`${field} `));
    };
    fc.assert(
      fc.property(fc.oneof(uris, hosts), (value) => assert.equal(isUri(value), one("uri", value), value)),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(emails, (value) => assert.equal(isEmail(value), one("email", value), value)),
      { numRuns: 1000 },
    );
  });
});
