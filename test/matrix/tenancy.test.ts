import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { idFields } from "../harness/operations.ts";
import { readRows } from "../harness/rows.ts";
import { callOperation, type Outcome } from "../harness/wire.ts";
import { callerFor, operations, protocols, recordFor, requestFor, type Stage, setStage, sharedIds } from "./stage.ts";

let stage: Stage;
before(async () => {
  stage = await setStage();
});

/** What a caller sees of an answer, apart from the time. */
function seen({ status, text, headers }: Outcome) {
  return { status, text, headers: [...headers].filter(([name]) => name !== "date") };
}

for (const operation of operations) {
  const { id, paging } = operation;

  for (const { name } of idFields(operation)) {
    if (sharedIds.has(`${id}.${name}`)) continue;
    test(`${id} cannot tell another tenant's ${name} from one that exists nowhere`, async () => {
      const { own, foreign, sql } = stage;
      const request = await requestFor(operation, own);
      const foreignId = await recordFor(operation, name, foreign);
      const held = await readRows(sql);
      for (const protocol of protocols) {
        const ask = (value: string) =>
          callOperation(
            protocol,
            operation,
            callerFor(own, operation),
            { ...request, [name]: value },
            { "x-request-id": "the-same" },
          );
        const outcome = await ask(foreignId);
        assert.equal(outcome.code, "NOT_FOUND", `${protocol}: ${outcome.text}`);
        assert.equal(outcome.status, 404);
        assert.deepEqual(seen(outcome), seen(await ask(ulid(Date.now()))));
        assert.deepEqual(seen(outcome), seen(await ask("no id at all")));
      }
      assert.deepEqual(await readRows(sql), held);
    });
  }

  if (paging !== undefined) {
    test(`${id} lists nothing of another tenant's, and takes none of its cursors`, async () => {
      const { own, foreign } = stage;
      const owner = paging.items.message!.field.tenantId?.name;
      const isTenant = id.startsWith("service.api.TenantService/");
      for (const protocol of protocols) {
        const listed = await callOperation(protocol, operation, own.admin, {});
        assert.equal(listed.code, "OK", listed.text);
        assert.ok(!listed.text.includes(foreign.tenantId), `${protocol}: ${listed.text}`);
        if (owner !== undefined || isTenant)
          assert.ok(listed.text.includes(own.tenantId), "there is something to list");
        const token = protocol === "REST" ? "next_cursor" : "nextPageToken";
        const theirs = (await callOperation(protocol, operation, foreign.admin, { page_size: 1 })).body[token];
        if (theirs === "") continue;
        const outcome = await callOperation(protocol, operation, own.admin, { page_token: theirs });
        assert.equal(outcome.code, "INVALID_ARGUMENT", `${protocol}: ${outcome.text}`);
      }
    });
  }
}

test("another tenant's event is no place to follow the log from, like one that exists nowhere", async () => {
  const { own, foreign } = stage;
  const subscribe = operations.find(({ id }) => id === "service.api.EventService/SubscribeEvents")!;
  const { cursor } = await requestFor(subscribe, foreign);
  for (const protocol of protocols) {
    const ask = (value: unknown) =>
      callOperation(protocol, subscribe, own.admin, { cursor: value }, { "x-request-id": "the-same" });
    const outcome = await ask(cursor);
    assert.equal(outcome.code, "INVALID_ARGUMENT", outcome.text);
    assert.deepEqual(seen(outcome), seen(await ask(ulid(Date.now()))));
  }
});

test("a service of one tenant learns nothing about another tenant's key", async () => {
  const { own, foreign } = stage;
  const verify = operations.find(({ id }) => id === "service.api.ApiKeyService/VerifyApiKey")!;
  const request = await requestFor(verify, foreign);
  for (const protocol of protocols) {
    const theirs = await callOperation(protocol, verify, foreign.service, request);
    assert.equal((theirs.body.data ?? theirs.body).valid, true);
    const ours = await callOperation(protocol, verify, own.service, request, { "x-request-id": "the-same" });
    const nobodys = { secret: "sk_live_nobody_has-this-key" };
    assert.deepEqual(
      seen(ours),
      seen(await callOperation(protocol, verify, own.service, nobodys, { "x-request-id": "the-same" })),
    );
  }
});
