import assert from "node:assert/strict";
import { test } from "node:test";
import { earlierDatabase } from "../../../../test/harness/earlier-schema.ts";
import { query } from "../../../../test/harness/embedded-owner.ts";

test("after the upgrade to limits at leasing, an item still waits for its own time and others are ready", async (t) => {
  const { url, upgrade } = await earlierDatabase(t, "0008");

  // An item held by a throttle may have had its own time, which was not stored separately.
  const id = (nth: number) => `0000000000000000000000000${nth}`;
  const item = (nth: number, state: string, due: string, reason: string, slot = false) =>
    `('${id(0)}', '${id(nth)}', '${id(0)}', '${state}', 0, 0, now(), ${due}, '${reason}', 'g', ${slot})`;
  await query(
    url,
    `insert into queue_items (tenant_id, id, pool_id, state, priority, rank, expires_at, due_at, hold_reason,
       concurrency_group, has_slot)
     values ${[
       item(1, "held", "now() + interval '1 hour'", "throttle"),
       item(2, "held", "now() - interval '1 second'", "throttle"),
       item(3, "held", "null", "concurrency"),
       item(4, "pending", "now() + interval '2 hours'", "not_before"),
       item(5, "held", "now() + interval '1 hour'", "debounce"),
       item(6, "ready", "null", "", true),
       item(7, "leased", "null", "", true),
     ].join(", ")}`,
  );
  await query(
    url,
    `insert into admission_groups (tenant_id, kind, group_id, environment_id, pool_id, slots, in_use, updated_at)
     values ('${id(0)}', 'concurrency', 'g', '${id(0)}', '${id(0)}', 5, 2, now())`,
  );
  await upgrade();

  const items = await query(
    url,
    `select right(id, 1) as nth, state, hold_reason, round(extract(epoch from due_at - now()) / 3600) as hours, has_slot
     from queue_items order by id`,
  );
  assert.deepEqual(
    items.map((each) => Object.values(each).map(String)),
    [
      ["1", "pending", "not_before", "1", "false"],
      ["2", "ready", "", "null", "false"],
      ["3", "ready", "", "null", "false"],
      ["4", "pending", "not_before", "2", "false"],
      ["5", "held", "debounce", "1", "false"],
      ["6", "ready", "", "null", "false"],
      ["7", "leased", "", "null", "true"],
    ],
  );
  assert.deepEqual(await query(url, "select in_use::int from admission_groups"), [{ in_use: 1 }]);
});
