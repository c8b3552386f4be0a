import assert from "node:assert/strict";
import { before, test } from "node:test";
import { findUpdatedRecord, isObserved, type Operation } from "../../src/definitions/index.ts";
import { freshWord, type Json } from "../harness/operations.ts";
import { callOperation } from "../harness/wire.ts";
import {
  atRest,
  callerFor,
  createMatrixFixture,
  isPatch,
  type MatrixFixture,
  operations,
  requestFor,
} from "./fixture.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

const isUpdate = ({ bindings }: Operation) =>
  bindings.some(({ verb, body }) => (verb === "PUT" || verb === "PATCH") && body === "*");

const updates = operations.filter(isUpdate);

test("the record of every update can be read by itself", () => {
  assert.ok(updates.length >= 25);
  const unreadable = updates.filter((operation) => findUpdatedRecord(operation, operations) === undefined);
  assert.deepEqual(
    unreadable.map(({ id }) => id),
    [],
  );
});

for (const operation of updates) {
  const updated = findUpdatedRecord(operation, operations);
  if (updated === undefined) continue;
  const { reader, readOnly, renamed } = updated;
  const call = (each: Operation, message: Json) =>
    callOperation("REST", each, callerFor(fixture.platform, each), message);

  /** Updates a record once, so that it exists, and returns it with what names it. */
  async function prepare() {
    const request = await requestFor(operation, fixture.platform);
    const first = await call(operation, request);
    assert.equal(first.code, "OK", first.text);
    await atRest(fixture.sql);
    const names = reader.method.input.fields.map(({ name }) => name);
    const read = async () => {
      const outcome = await call(reader, Object.fromEntries(names.map((name) => [name, request[name]])));
      assert.equal(outcome.code, "OK", outcome.text);
      return outcome.body.data as Json;
    };
    const record = await read();
    // What the update needs besides the record, such as the id in its path.
    const others = Object.entries(request).filter(([name]) => !(name in record) && !isRenamed(name));
    return { record, read, others: isPatch(operation) ? onlyIds(others) : Object.fromEntries(others) };
  }
  const isRenamed = (name: string) => [...renamed.values()].some(({ request }) => request.name === name);
  const onlyIds = (entries: [string, unknown][]) =>
    Object.fromEntries(entries.filter(([name]) => operation.bindings[0]!.path.includes(`{${name}}`)));

  test(`${operation.id} accepts the record that ${reader.method.name} returns, as it is and with a new text`, async () => {
    const { record, read, others } = await prepare();
    const same = await call(operation, { ...record, ...others });
    assert.equal(same.code, "OK", same.text);
    const text = ["name", "display_name", "description"].find(
      (name) => name in record && operation.method.input.fields.some((field) => field.name === name),
    );
    if (text === undefined) return;
    const value = freshWord();
    const edited = await call(operation, { ...(await read()), ...others, [text]: value });
    assert.equal(edited.code, "OK", edited.text);
    assert.equal((await read())[text], value);
  });

  const fixed = [...readOnly.values()].filter(
    (field) => !isObserved(field) && !renamed.has(field.name) && field.scalar !== undefined && field.name !== "version",
  );
  const [checked] = fixed.filter(({ name }) => name !== "record_version");
  if (checked === undefined) continue;

  test(`${operation.id} refuses a changed ${checked.name}, by name, and changes nothing`, async () => {
    const { record, read, others } = await prepare();
    const { [checked.name]: value } = record;
    const other = typeof value === "boolean" ? !value : typeof value === "number" ? value + 1 : `${value}x`;
    const refused = await call(operation, { ...record, ...others, [checked.name]: other });
    assert.equal(refused.code, "INVALID_ARGUMENT", refused.text);
    assert.deepEqual(
      refused.body.violations.map(({ field, rule }: { field: string; rule: string }) => [field, rule]),
      [[checked.name, "read_only"]],
    );
    assert.deepEqual(await read(), record);
  });
}
