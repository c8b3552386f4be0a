import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Operation } from "../../src/definitions/index.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { idFields, type Json } from "../harness/operations.ts";
import { readRows } from "../harness/rows.ts";
import { callOperation, type Outcome, type Protocol } from "../harness/wire.ts";
import {
  alternatives,
  atRest,
  callerFor,
  createMatrixFixture,
  itemsOnly,
  listRequestOf,
  type MatrixFixture,
  operations,
  protocols,
  recordFor,
  refusals,
  requestFor,
  sharedIds,
} from "./fixture.ts";
import { listedIds } from "./listed-ids.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

const sameRequestId = { "x-request-id": "the-same" };

/** The visible part of a response, without times. */
function seen({ status, text, headers }: Outcome) {
  return { status, text, headers: [...headers].filter(([name]) => name !== "date") };
}

/** Whether a field only filters a list. */
function isFilter({ paging, bindings }: Operation, name: string): boolean {
  return paging !== undefined && bindings.every(({ path }) => !path.includes(`{${name}}`));
}

/** The total that a list reports. */
function totalOf(protocol: Protocol, { body }: Outcome): number {
  return protocol === "REST" ? body.total : (body.totalSize ?? 0);
}

/** A valid request of a tenant for each operation, created once: no call of these tests changes a record. */
const requests = { own: new Map<Operation, Promise<Json>>(), foreign: new Map<Operation, Promise<Json>>() };

function requestOf(operation: Operation, name: "own" | "foreign"): Promise<Json> {
  const known = requests[name].get(operation);
  if (known !== undefined) return known;
  const made = requestFor(operation, fixture[name]);
  requests[name].set(operation, made);
  return made;
}

for (const operation of operations) {
  const { id, paging } = operation;

  for (const { name } of idFields(operation)) {
    const field = `${id}.${name}`;
    if (sharedIds.has(field)) continue;
    test(`${id} does not distinguish another tenant's ${name} from one that does not exist`, async () => {
      const { own, foreign, sql } = fixture;
      const alternative = alternatives[field];
      const valid = await requestOf(operation, "own");
      // The filter alone: other filters would hide its matches.
      const made = isFilter(operation, name) ? listRequestOf(operation, valid) : valid;
      const request = { ...made, ...(alternative && { [alternative]: "" }) };
      const foreignId =
        alternative === undefined
          ? ((await requestOf(operation, "foreign"))[name] as string)
          : await recordFor(operation, name, foreign);
      await atRest(sql);
      const held = await readRows(sql);
      for (const protocol of protocols) {
        const ask = (value: string) =>
          callOperation(protocol, operation, callerFor(own, operation), { ...request, [name]: value }, sameRequestId);
        const outcome = await ask(foreignId);
        // A filter by a foreign id matches nothing.
        const expected = outcome.code === "OK" && isFilter(operation, name) ? "OK" : (refusals[field] ?? "NOT_FOUND");
        assert.equal(outcome.code, expected, `${protocol}: ${outcome.text}`);
        if (outcome.code === "OK") assert.equal(totalOf(protocol, outcome), 0, outcome.text);
        assert.deepEqual(seen(outcome), seen(await ask(ulid(Date.now()))));
        assert.deepEqual(seen(outcome), seen(await ask("no id at all")));
      }
      assert.deepEqual(await readRows(sql), held);
    });
  }

  for (const { path, read, replace } of listedIds(operation)) {
    if (sharedIds.has(`${id}.${path}`)) continue;
    test(`${id} treats another tenant's ${path} like one that does not exist`, async () => {
      const { own, sql } = fixture;
      const request = await requestOf(operation, "own");
      const foreignId = read(await requestOf(operation, "foreign"));
      await atRest(sql);
      const held = await readRows(sql);
      for (const protocol of protocols) {
        const ask = async (value: string) => {
          const message = { ...request, ...itemsOnly[id], ...replace(request, value) };
          const caller = callerFor(own, operation);
          const { status, text } = await callOperation(protocol, operation, caller, message, sameRequestId);
          return { status, text: text.replaceAll(value, "the id") };
        };
        const told = await ask(foreignId);
        assert.ok(told.status < 500, told.text);
        assert.deepEqual(told, await ask(ulid(Date.now())));
      }
      assert.deepEqual(await readRows(sql), held);
    });
  }

  if (paging !== undefined) {
    test(`${id} lists no records of another tenant, and rejects its cursors`, async () => {
      const { own, foreign } = fixture;
      const owner = paging.items.message!.field.tenantId?.name;
      const isTenant = id.startsWith("service.api.TenantService/");
      const ours = listRequestOf(operation, await requestOf(operation, "own"));
      const theirsAsked = listRequestOf(operation, await requestOf(operation, "foreign"));
      for (const protocol of protocols) {
        const listed = await callOperation(protocol, operation, own.admin, ours);
        assert.equal(listed.code, "OK", listed.text);
        assert.ok(!listed.text.includes(foreign.tenantId), `${protocol}: ${listed.text}`);
        if (owner !== undefined || isTenant)
          assert.ok(listed.text.includes(own.tenantId), "at least one record is listed");
        // Numbered pages have no cursors.
        if (paging.kind === "numbered") continue;
        const token = protocol === "REST" ? "next_cursor" : "nextPageToken";
        const asked = { ...theirsAsked, page_size: 1 };
        const theirs = (await callOperation(protocol, operation, foreign.admin, asked)).body[token];
        if (theirs === "") continue;
        const outcome = await callOperation(protocol, operation, own.admin, { ...ours, page_token: theirs });
        assert.equal(outcome.code, "INVALID_ARGUMENT", `${protocol}: ${outcome.text}`);
      }
    });
  }
}

test("another tenant's event is rejected as a log cursor, like one that does not exist", async () => {
  const { own, foreign } = fixture;
  const subscribe = operations.find(({ id }) => id === "service.api.EventService/SubscribeEvents")!;
  const { cursor } = await requestFor(subscribe, foreign);
  for (const protocol of protocols) {
    const ask = (value: unknown) => callOperation(protocol, subscribe, own.admin, { cursor: value }, sameRequestId);
    const outcome = await ask(cursor);
    assert.equal(outcome.code, "INVALID_ARGUMENT", outcome.text);
    assert.deepEqual(seen(outcome), seen(await ask(ulid(Date.now()))));
  }
});

test("a service of one tenant learns nothing about another tenant's key", async () => {
  const { own, foreign } = fixture;
  const verify = operations.find(({ id }) => id === "service.api.ApiKeyService/VerifyApiKey")!;
  const request = await requestFor(verify, foreign);
  for (const protocol of protocols) {
    const theirs = await callOperation(protocol, verify, foreign.service, request);
    assert.equal((theirs.body.data ?? theirs.body).valid, true);
    const ours = await callOperation(protocol, verify, own.service, request, sameRequestId);
    const nobodys = { secret: "sk_live_nobody_has-this-key" };
    assert.deepEqual(seen(ours), seen(await callOperation(protocol, verify, own.service, nobodys, sameRequestId)));
  }
});
