import assert from "node:assert/strict";
import { before, test } from "node:test";
import { readRows } from "../harness/rows.ts";
import { callOperation } from "../harness/wire.ts";
import {
  atRest,
  callerFor,
  createMatrixFixture,
  isPatch,
  leastRequestFor,
  type MatrixFixture,
  operations,
  protocols,
  requestFor,
} from "./fixture.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

const updates = operations.filter(isPatch);

test("there are updates to test", () => assert.ok(updates.length >= 8));

for (const operation of updates) {
  const call = (protocol: (typeof protocols)[number], request: object) =>
    callOperation(protocol, operation, callerFor(fixture.platform, operation), request as never);

  test(`${operation.id} without a field changes no version, records no event, and returns the record`, async () => {
    for (const protocol of protocols) {
      const request = await leastRequestFor(operation, fixture.platform);
      await atRest(fixture.sql);
      const untouched = await readRows(fixture.sql);
      const outcome = await call(protocol, request);
      assert.equal(outcome.code, "OK", `${protocol}: ${outcome.text}`);
      assert.deepEqual(await readRows(fixture.sql), untouched, protocol);
    }
  });

  test(`${operation.id} without a field still rejects a version that is not the current one`, async () => {
    const request = await requestFor(operation, fixture.platform);
    const empty = await leastRequestFor(operation, fixture.platform);
    assert.equal((await call("REST", request)).code, "OK");
    const ids = Object.fromEntries(Object.entries(request).filter(([name]) => name in empty));
    assert.equal((await call("REST", { ...ids, record_version: 1 })).code, "VERSION_CONFLICT");
    assert.equal((await call("REST", { ...ids, record_version: 2 })).code, "OK");
  });
}
