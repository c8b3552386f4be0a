import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../../test/harness/until.ts";
import { instant, startTriggerFixture, value } from "../../../../test/workflows/trigger-fixture.ts";

const fixture = await startTriggerFixture();

test("several nodes start one run for each time and event, while nodes come and go", async () => {
  const tenants = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { tenantId } = await fixture.tenant();
      await fixture.publish(tenantId, instant);
      const schedule = { cron: "* * * * * *", overlap: "allow" };
      await fixture.create(tenantId, { schedule, input: value("=schedule.time") });
      await fixture.create(tenantId, { event: { types: ["order.paid"] }, input: value("=event.id") });
      return { tenantId, ids: [] as string[] };
    }),
  );
  const [first, second] = await Promise.all([fixture.startWorker(), fixture.startWorker()]);
  const emit = () =>
    Promise.all(tenants.map(async ({ tenantId, ids }) => ids.push(await fixture.emit(tenantId, "order.paid"))));
  const inputsOf = async (tenantId: (typeof tenants)[0]["tenantId"]) =>
    (await fixture.runsOf(tenantId)).map(({ state }) => state.input as string);
  const reaches = (count: number) =>
    until(async () => {
      for (const { tenantId, ids } of tenants) {
        const inputs = await inputsOf(tenantId);
        if (inputs.length - ids.length < count || !ids.every((id) => inputs.includes(id))) return false;
      }
      return true;
    });
  await emit();
  await reaches(2);
  await first!.stop();
  for (let nth = 0; nth < 10; nth++) await emit();
  await reaches(3);
  await fixture.startWorker();
  await second!.stop();
  for (let nth = 0; nth < 10; nth++) await emit();
  await reaches(4);
  for (const { tenantId } of tenants) {
    const inputs = await inputsOf(tenantId);
    assert.equal(new Set(inputs).size, inputs.length, "no time and no event has two runs");
  }
});
