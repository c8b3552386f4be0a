import assert from "node:assert/strict";
import { before, test } from "node:test";
import { catalogue } from "../../src/errors/index.ts";
import { readRows } from "../harness/rows.ts";
import { callOperation } from "../harness/wire.ts";
import { callerFor, operations, protocols, requestFor, type Stage, setStage } from "./stage.ts";

let stage: Stage;
before(async () => {
  stage = await setStage();
});

for (const operation of operations) {
  const { id, governance } = operation;
  for (const protocol of protocols) {
    test(`${id} over ${protocol} carries out a request made from its definition`, async () => {
      const { platform } = stage;
      const request = await requestFor(operation, platform);
      const outcome = await callOperation(protocol, operation, callerFor(platform, operation), request);
      assert.equal(outcome.code, "OK", `${JSON.stringify(request)} was answered ${outcome.text}`);
      assert.equal(outcome.status, 200);
    });

    if (governance.authenticationRequired) {
      test(`${id} over ${protocol} refuses a caller without credentials, and nothing happens`, async () => {
        const { platform, sql } = stage;
        const request = await requestFor(operation, platform);
        const { baseUrl } = callerFor(platform, operation);
        const held = await readRows(sql);
        for (const headers of [{}, { "x-api-key": "sk_live_nobody_has_this" }, { authorization: "Bearer a.b.c" }]) {
          const outcome = await callOperation(protocol, operation, { baseUrl, headers }, request);
          assert.equal(outcome.code, "UNAUTHENTICATED", outcome.text);
          if (protocol === "REST") assert.equal(outcome.status, catalogue.UNAUTHENTICATED.http);
        }
        assert.deepEqual(await readRows(sql), held);
      });
    }

    if (governance.authorizationRequired && !governance.internalOnly) {
      test(`${id} over ${protocol} refuses a key without roles and scopes, and nothing happens`, async () => {
        const { platform, sql } = stage;
        const request = await requestFor(operation, platform);
        const held = await readRows(sql);
        const outcome = await callOperation(protocol, operation, platform.nobody, request);
        assert.equal(outcome.code, "PERMISSION_DENIED", outcome.text);
        if (protocol === "REST") assert.equal(outcome.status, catalogue.PERMISSION_DENIED.http);
        assert.deepEqual(await readRows(sql), held);
      });
    }
  }
}
