import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import { applyPatch, type PatchOperation, readOperations } from "./patch.ts";
import { type Attributes, readAttributes } from "./resource.ts";
import { enterpriseUrn, groupType, userType } from "./schema.ts";
import { ScimError } from "./scim-error.ts";

const patch = (before: object, ...operations: object[]) =>
  applyPatch(userType, readAttributes(userType, before), readOperations({ Operations: operations }));

test("the operations that Entra ID documents", () => {
  const before = {
    userName: "ada",
    emails: [{ type: "work", value: "old@acme.example", primary: true }],
    active: true,
  };
  assert.deepEqual(
    patch(
      before,
      { op: "Replace", path: 'emails[type eq "work"].value', value: "new@acme.example" },
      { op: "Replace", path: "name.familyName", value: "Lovelace" },
    ),
    { ...before, emails: [{ ...before.emails[0], value: "new@acme.example" }], name: { familyName: "Lovelace" } },
  );
  assert.equal(patch(before, { op: "Replace", path: "active", value: "False" }).active, false);
  assert.equal(patch(before, { op: "Replace", path: "active", value: false }).active, false);
  assert.equal(patch(before, { op: "Add", value: { active: "True" } }).active, true);
  const dotted = {
    "name.givenName": "Ada",
    [`${enterpriseUrn}:department`]: "Engines",
    [`${enterpriseUrn}:manager`]: "01J",
    'emails[type eq "home"].value': "home@acme.example",
  };
  assert.deepEqual(patch(before, { op: "Add", value: dotted }), {
    ...before,
    name: { givenName: "Ada" },
    [enterpriseUrn]: { department: "Engines", manager: { value: "01J" } },
    emails: [...before.emails, { type: "home", value: "home@acme.example" }],
  });
  const managed = patch(before, { op: "Add", path: `${enterpriseUrn}:manager`, value: "01J" });
  assert.deepEqual(managed[enterpriseUrn], { manager: { value: "01J" } });
  const removed = applyPatch(
    userType,
    managed,
    readOperations({ Operations: [{ op: "Remove", path: `${enterpriseUrn}:manager` }] }),
  );
  assert.equal(removed[enterpriseUrn], undefined);
  assert.deepEqual(
    patch(before, { op: "Add", path: 'phoneNumbers[type eq "mobile" and primary eq true].value', value: "1" })
      .phoneNumbers,
    [{ type: "mobile", primary: true, value: "1" }],
  );
});

test("the members of a group, as Entra ID and Okta change them", () => {
  const group = (...ids: string[]) =>
    ({ displayName: "Engineers", members: ids.map((value) => ({ value })) }) as Attributes;
  const change = (before: Attributes, ...Operations: object[]) =>
    applyPatch(groupType, before, readOperations({ Operations }));
  assert.deepEqual(
    change(group("a"), { op: "Add", path: "members", value: [{ $ref: null, value: "b" }] }),
    group("a", "b"),
  );
  assert.deepEqual(change(group("a"), { op: "Add", path: "members", value: [{ value: "a" }] }), group("a"));
  assert.deepEqual(
    change(group("a", "b"), { op: "Remove", path: "members", value: [{ $ref: null, value: "a" }] }),
    group("b"),
  );
  assert.deepEqual(change(group("a", "b"), { op: "remove", path: 'members[value eq "a"]' }), group("b"));
  assert.equal(change(group("a", "b"), { op: "remove", path: "members" }).members, undefined);
  assert.deepEqual(change(group("a"), { op: "replace", path: "members", value: [{ value: "c" }] }), group("c"));
  const renamed = change(group("a"), { op: "replace", value: { id: "01J", displayName: "Builders" } });
  assert.deepEqual(renamed, { ...group("a"), displayName: "Builders" });
});

/** A group whose members count how often their values are read. */
function countedGroup(size: number) {
  const reads = { count: 0 };
  const members = Array.from({ length: size }, (_, n) => ({
    get value() {
      reads.count++;
      return `m${n}`;
    },
  }));
  return { group: { displayName: "Engineers", members } as unknown as Attributes, reads };
}

test("adding or removing many members reads each member of the group a few times, however many are named", () => {
  const named = Array.from({ length: 500 }, (_, n) => `m${n * 2}`);
  const remaining = Array.from({ length: 1000 }, (_, n) => `m${n}`).filter((id) => !named.includes(id));
  const ids = ({ members }: Attributes) => (members as { value: string }[]).map(({ value }) => value);
  const forms: [object[], string[]][] = [
    [[{ op: "remove", path: "members", value: named.map((value) => ({ value })) }], remaining],
    [named.map((id) => ({ op: "remove", path: `members[value eq "${id}"]` })), remaining],
    [named.map((id) => ({ op: "Remove", path: "members", value: [{ value: id }] })), remaining],
    [
      named.map((id) => ({ op: "Add", path: "members", value: [{ value: `${id}-new` }] })),
      [...ids(countedGroup(1000).group), ...named.map((id) => `${id}-new`)],
    ],
  ];
  for (const [Operations, expected] of forms) {
    const { group, reads } = countedGroup(1000);
    const changed = applyPatch(groupType, group, readOperations({ Operations }));
    assert.ok(reads.count <= 5 * 1000, `${reads.count} reads`);
    assert.deepEqual(ids(changed), expected);
  }
});

test("operations on members are applied in their order", () => {
  const group = (...ids: string[]) => ({ displayName: "Engineers", members: ids.map((value) => ({ value })) });
  const change = (...Operations: object[]) =>
    applyPatch(groupType, group("a", "b") as Attributes, readOperations({ Operations }));
  const add = (value: string) => ({ op: "add", path: "members", value: [{ value }] });
  const remove = (id: string) => ({ op: "remove", path: `members[value eq "${id}"]` });
  assert.deepEqual(change(add("c"), remove("c"), remove("a"), add("a")), group("b", "a"));
  assert.deepEqual(change(remove("a"), { op: "remove", path: "Members", value: { value: "b" } }, add("c")), group("c"));
  assert.deepEqual(change(add("c"), { op: "remove", path: "members" }, add("d")), group("d"));
  assert.deepEqual(
    change(remove("a"), { op: "replace", path: "members", value: [{ value: "a" }] }, add("c")),
    group("a", "c"),
  );
  const renamed = change(remove("a"), { op: "replace", path: "displayName", value: "Builders" }, remove("b"));
  assert.deepEqual(renamed, { displayName: "Builders" });
});

test("operations that cannot be applied are refused with the code of RFC 7644", () => {
  const cases: [object, string][] = [
    [{ op: "remove" }, "noTarget"],
    [{ op: "add", value: "text" }, "invalidValue"],
    [{ op: "move", path: "title" }, "invalidSyntax"],
    [{ op: "replace", path: "unknown", value: 1 }, "invalidPath"],
    [{ op: "replace", path: "emails[", value: 1 }, "invalidPath"],
    [{ op: "replace", path: "id", value: "x" }, "mutability"],
    [{ op: "replace", path: "groups", value: [] }, "mutability"],
    [{ op: "replace", path: "active", value: "maybe" }, "invalidValue"],
    [{ op: "replace", path: 'emails[type ne "work"].value', value: "x" }, "noTarget"],
    [{ op: "replace", path: 'title[value eq "x"]', value: "x" }, "invalidPath"],
    [{ op: "replace", path: "title", value: { a: 1 } }, "invalidValue"],
  ];
  for (const [operation, scimType] of cases) {
    assert.throws(
      () => patch({ userName: "ada" }, operation),
      (error: unknown) => error instanceof ScimError && error.scimType === scimType,
      JSON.stringify(operation),
    );
  }
  for (const body of [undefined, [], {}, { Operations: [] }, { Operations: "x" }, { Operations: [1] }]) {
    assert.throws(() => readOperations(body), ScimError);
  }
});

test("passwords are never part of a resource", () => {
  assert.deepEqual(readAttributes(userType, { userName: "ada", password: "secret" }), { userName: "ada" });
  assert.deepEqual(patch({ userName: "ada" }, { op: "replace", path: "password", value: "secret" }), {
    userName: "ada",
  });
});

// ---- an independent reference: a resource is a set of cells, and every operation is a rule on cells ----

/** Cells of a resource: `title=x`, `name.givenName=x`, and `emails/work/value=x` for the address at work. */
type Cells = ReadonlyMap<string, unknown>;

const kinds = ["work", "home", "other"] as const;

function cellsOf(attributes: Attributes): Map<string, unknown> {
  const cells = new Map<string, unknown>();
  for (const [name, value] of Object.entries(attributes)) {
    if (Array.isArray(value)) {
      for (const each of value as Record<string, unknown>[]) {
        for (const [sub, part] of Object.entries(each)) cells.set(`${name}/${String(each.type)}/${sub}`, part);
      }
    } else if (typeof value === "object" && value !== null) {
      for (const [sub, part] of Object.entries(value)) cells.set(`${name}.${sub}`, part);
    } else cells.set(name, value);
  }
  return cells;
}

function reference(cells: Cells, { op, path, value }: PatchOperation): Map<string, unknown> {
  const next = new Map(cells);
  const set = (cell: string, part: unknown) =>
    op === "remove" || part === "" ? next.delete(cell) : next.set(cell, part);
  const kind = /^emails\[type eq "(\w+)"\](?:\.(\w+))?$/.exec(path ?? "");
  if (path === undefined) {
    for (const [name, part] of Object.entries(value as object)) {
      for (const [cell, each] of reference(new Map(), { op, path: name, value: part })) next.set(cell, each);
    }
  } else if (kind === null) set(path, value);
  else if (kind[2] === undefined) {
    for (const cell of cells.keys()) if (cell.startsWith(`emails/${kind[1]}/`)) next.delete(cell);
  } else {
    if (op !== "remove") next.set(`emails/${kind[1]}/type`, kind[1]);
    set(`emails/${kind[1]}/${kind[2]}`, value);
  }
  return next;
}

const text = fc.constantFrom("a", "b", "c");
const simplePath = fc.constantFrom("title", "displayName", "name.givenName", "name.familyName");
const setting = fc.constantFrom("add" as const, "replace" as const);
const operation: fc.Arbitrary<PatchOperation> = fc.oneof(
  fc.record({ op: setting, path: simplePath, value: text }),
  simplePath.map((path) => ({ op: "remove" as const, path, value: undefined })),
  fc.record({
    op: setting,
    path: fc
      .tuple(fc.constantFrom(...kinds), fc.constantFrom("value", "display"))
      .map(([kind, sub]) => `emails[type eq "${kind}"].${sub}`),
    value: text,
  }),
  fc
    .constantFrom(...kinds)
    .map((kind) => ({ op: "remove" as const, path: `emails[type eq "${kind}"]`, value: undefined })),
  fc
    .constantFrom(...kinds)
    .map((kind) => ({ op: "remove" as const, path: `emails[type eq "${kind}"].display`, value: undefined })),
  fc.record({
    op: setting,
    path: fc.constant(undefined),
    value: fc.dictionary(simplePath, text, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
  }),
);
const person = fc.record({
  userName: fc.constant("ada"),
  title: text,
  name: fc.record({ givenName: text }),
  emails: fc
    .subarray([...kinds])
    .map((all) => all.map((type) => ({ type, value: `${type}@acme.example`, display: "d" }))),
});

test("random operations have the effect that an independent model of cells predicts", () => {
  fc.assert(
    fc.property(person, fc.array(operation, { maxLength: 12 }), (before, operations) => {
      const start = readAttributes(userType, before);
      const expected = operations.reduce(reference, cellsOf(start) as Cells);
      const after = cellsOf(applyPatch(userType, start, operations));
      assert.deepEqual([...after].sort(), [...expected].sort());
    }),
    { numRuns: 2000 },
  );
});

test("a patch is pure, and at most one value stays primary", () => {
  const emails = (all: object[]) => ({ userName: "ada", emails: all });
  const entry = fc.record({ value: text, type: fc.constantFrom(...kinds), primary: fc.boolean() });
  fc.assert(
    fc.property(fc.array(entry), fc.array(entry, { minLength: 1 }), setting, (first, second, op) => {
      const start = readAttributes(userType, emails(first));
      const frozen = JSON.stringify(start);
      const after = applyPatch(userType, start, [{ op, path: "emails", value: second }]);
      assert.equal(JSON.stringify(start), frozen);
      const listed = (after.emails ?? []) as { primary?: boolean }[];
      assert.ok(listed.filter(({ primary }) => primary === true).length <= 1);
    }),
  );
});
