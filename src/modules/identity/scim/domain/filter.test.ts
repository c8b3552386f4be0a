import assert from "node:assert/strict";
import { test } from "node:test";
import { type Filter as ReferenceFilter, parse as referenceParse, Tester } from "scim2-parse-filter";
import { fc } from "../../../../../test/harness/random.ts";
import { parseFilter, parsePatchPath } from "./filter.ts";
import { matches, type ScimObject } from "./filter-match.ts";
import { enterpriseUrn, userType } from "./schema.ts";
import { ScimError } from "./scim-error.ts";

const word = fc.constantFrom("a", "b", "ab", "ba", "abc", "work", "home");
const textPath = fc.constantFrom("userName", "displayName", "name.givenName", "title", `${enterpriseUrn}:department`);
const listPath = fc.constantFrom("emails", "phoneNumbers");
const subPath = fc.constantFrom("value", "type");
const operator = fc.constantFrom("eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le");

/** A filter on texts, as text. Parentheses and spaces are those of RFC 7644, upper case is allowed. */
const comparison = fc.oneof(
  fc.tuple(textPath, operator, word).map(([path, op, value]) => `${path} ${op} "${value}"`),
  fc.tuple(listPath, subPath, operator, word).map(([path, sub, op, value]) => `${path}.${sub} ${op} "${value}"`),
  textPath.map((path) => `${path} pr`),
  fc.boolean().map((value) => `active eq ${value}`),
);
/** The reference, except that it tests the filter of a value path on each element, as RFC 7644 says, and not on all together. */
class ElementTester extends Tester {
  override test(resource: unknown, filter: ReferenceFilter): boolean {
    if (filter.op !== "[]") return super.test(resource, filter);
    const listed = (resource as Record<string, unknown[] | undefined>)[filter.attrPath] ?? [];
    return listed.some((each) => this.test(each, filter.valFilter));
  }
}

const elementFilter = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.tuple(subPath, operator, word).map(([sub, op, value]) => `${sub} ${op} "${value}"`),
    fc.tuple(tie("filter"), fc.constantFrom("and", "or"), tie("filter")).map(([a, op, b]) => `(${a}) ${op} (${b})`),
    tie("filter").map((inner) => `not (${inner})`),
  ),
})).filter;
const anyFilter = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    comparison,
    fc.tuple(listPath, elementFilter).map(([path, inner]) => `${path}[${inner}]`),
    fc
      .tuple(tie("filter"), fc.constantFrom("and", "or", "AND", "Or"), tie("filter"))
      .map(([a, op, b]) => `${a} ${op} ${b}`),
    fc.tuple(tie("filter"), fc.constantFrom("and", "or"), tie("filter")).map(([a, op, b]) => `(${a}) ${op} (${b})`),
    tie("filter").map((inner) => `not (${inner})`),
  ),
})).filter;

const element = fc.record({ value: word, type: word }, { requiredKeys: ["value"] });
const resource = fc.record(
  {
    userName: word,
    displayName: word,
    name: fc.record({ givenName: word }),
    title: word,
    active: fc.boolean(),
    emails: fc.array(element, { minLength: 1, maxLength: 3 }),
    phoneNumbers: fc.array(element, { minLength: 1, maxLength: 3 }),
    [enterpriseUrn]: fc.record({ department: word }),
  },
  { requiredKeys: ["userName"] },
);

test("filters select the same people as an independent implementation", () => {
  fc.assert(
    fc.property(anyFilter, fc.array(resource, { minLength: 1, maxLength: 8 }), (text, people) => {
      // The reference reads operators in lower case only.
      const reference = referenceParse(text.replaceAll(" AND ", " and ").replaceAll(" Or ", " or "));
      const tester = new ElementTester();
      const parsed = parseFilter(text);
      for (const person of people) {
        assert.equal(
          matches(parsed, person as ScimObject, userType),
          tester.test(person, reference),
          `${text} of ${JSON.stringify(person)}`,
        );
      }
    }),
    { numRuns: 2000 },
  );
});

test("filters that Entra ID and Okta send", () => {
  const person: ScimObject = {
    userName: "Ada@Acme.example",
    externalId: "0a21F0f2",
    active: true,
    emails: [
      { type: "work", value: "ada@acme.example", primary: true },
      { type: "home", value: "ada@home.example" },
    ],
    meta: { lastModified: "2026-05-01T00:00:00.000Z" },
    [enterpriseUrn]: { manager: { value: "01J" } },
  };
  const cases: [string, boolean][] = [
    ['userName eq "ada@acme.EXAMPLE"', true],
    ['USERNAME Eq "ada@acme.example"', true],
    ['externalId eq "0a21F0f2"', true],
    ['externalId eq "0A21F0F2"', false],
    ['emails[type eq "work"].value eq "ada@acme.example"', true],
    ['emails[type eq "home"].value eq "ada@acme.example"', false],
    ['emails eq "ada@home.example"', true],
    ['emails[type eq "work" and value co "acme"]', true],
    ['active eq "True"', true],
    ["active eq false", false],
    ['meta.lastModified gt "2026-01-01T00:00:00Z"', true],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "ada"', true],
    [`${enterpriseUrn}:manager.value eq "01J"`, true],
    [`${enterpriseUrn}:manager eq "01J"`, true],
    ['emails[not (type eq "work")]', true],
    ['emails[not (type eq "work" or type eq "home")]', false],
    ["title pr", false],
    ["emails pr", true],
    ['title ne "x"', false],
    ['userName eq "a" or userName sw "ada" and active eq true', true],
  ];
  for (const [text, expected] of cases) assert.equal(matches(parseFilter(text), person, userType), expected, text);
});

test("a filter that does not follow the grammar, or names an unknown attribute, is invalidFilter", () => {
  for (const text of [
    "userName",
    "userName eq",
    'userName eq "a',
    "userName eq 'a'",
    'userName like "a"',
    'userName eq "a" and',
    '(userName eq "a"',
    'userName eq "a")',
    "emails[type eq]",
    'userName eq "\\u0000"',
    'userName eq "\\ud800"',
    'emails[type eq "a"',
    'unknown eq "a"',
    'name.unknown eq "a"',
    'userName eq "a" userName eq "b"',
    `${"(".repeat(100)}userName pr${")".repeat(100)}`,
    `userName eq "${"a".repeat(5000)}"`,
    "; drop table scim_users",
  ]) {
    assert.throws(
      () => matches(parseFilter(text), {}, userType),
      (error: unknown) => error instanceof ScimError && error.status === 400 && error.scimType === "invalidFilter",
      text,
    );
  }
});

test("any text is parsed or refused, never anything else", () => {
  const piece = fc.constantFrom(
    "userName",
    "emails",
    " ",
    "eq",
    '"a"',
    "(",
    ")",
    "[",
    "]",
    ".",
    "and",
    "or",
    "not",
    "pr",
    "1",
    "\\",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((all) => all.join("")),
      ),
      (text) => {
        for (const parse of [parseFilter, parsePatchPath]) {
          try {
            parse(text);
          } catch (error) {
            assert.ok(error instanceof ScimError);
          }
        }
      },
    ),
  );
});
