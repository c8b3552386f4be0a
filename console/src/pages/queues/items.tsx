import { createQueueService, type QueueItem } from "@client/gen/queue";
import { useMemo } from "preact/hooks";
import { useList } from "../../core/query";
import { withQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { pickRecipient } from "../../palette/picker-sources";
import { Empty, samplesOf } from "../../ui/empty";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, PickerFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { itemText } from "../shared/item-text";

const queues = createQueueService(transport);
const states = [
  "pending",
  "held",
  "ready",
  "leased",
  "completed",
  "dead_lettered",
  "cancelled",
  "expired",
  "drained",
  "superseded",
];

const waiting = new Set(["pending", "held", "ready"]);

const columnsOf = (isPaused: boolean): readonly Column<QueueItem>[] => [
  { title: "Item", value: itemText },
  { title: "State", width: "120px", value: ({ state }) => state, render: ({ state }) => <Status of={state} /> },
  {
    title: "Held by",
    width: "190px",
    value: ({ state, hold_reason, assignment }) => {
      const reason = hold_reason || assignment?.reason;
      if (!isPaused || !waiting.has(state)) return words(reason);
      return reason ? `Paused; ${words(reason).toLowerCase()}` : "Paused";
    },
  },
  { title: "Priority", width: "86px", isNumber: true, value: ({ priority }) => priority },
  { title: "Attempt", width: "86px", isNumber: true, value: ({ attempt }) => attempt },
  {
    title: "Since",
    width: "110px",
    value: ({ enqueued_at }) => enqueued_at,
    render: ({ enqueued_at }) => <Ago time={enqueued_at} />,
  },
];

export function Items({ poolId, isPaused }: { readonly poolId: string; readonly isPaused: boolean }) {
  const recipients = useMemo(() => pickRecipient(poolId), [poolId]);
  const filters = { state: filterOf("state"), recipient_id: filterOf("recipient") };
  const list = useList(
    `items ${poolId} ${JSON.stringify(filters)}`,
    (page) => queues.listItems({ ...page, ...filters, pool_id: poolId }),
    { everyMs: 4_000, live: ["queue.drained"] },
  );
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={states.map((each) => [each, words(each)])} label="State" name="state" />
        <PickerFilter from={recipients} label="Recipient" name="recipient" />
      </div>
      <ListTable
        columns={columnsOf(isPaused)}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/route",
              body: { pool_id: poolId, type: "ticket" },
              cli: `route --pool-id ${poolId} --type ticket`,
              sdk: `routing.route({ pool_id: "${poolId}", type: "ticket" })`,
            })}
            title="No item"
          >
            Nothing waits and nothing is in progress.
          </Empty>
        }
        hrefOf={({ id }) => withQuery({ open: id })}
        keyOf={({ id }) => id}
        label="Items of the queue"
        list={list}
      />
    </>
  );
}
