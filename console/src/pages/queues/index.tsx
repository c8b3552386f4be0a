import { createQueueService, type Queue } from "@client/gen/queue";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href } from "../../core/router";
import { transport } from "../../core/transport";
import { formatSeconds } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Status } from "../../ui/text";
import { withEnvironment } from "../shared/environment";
import { FirstPool } from "../shared/first-pool";
import { QueuePage } from "./queue-page";

const queues = createQueueService(transport);

const columns: readonly Column<Queue>[] = [
  { title: "Queue", value: ({ pool_name }) => pool_name },
  { title: "Waiting", width: "84px", isNumber: true, value: ({ depth }) => Number(depth) },
  { title: "Ready", width: "74px", isNumber: true, value: ({ ready_count }) => Number(ready_count) },
  { title: "In progress", width: "98px", isNumber: true, value: ({ in_flight }) => Number(in_flight) },
  {
    title: "Oldest",
    width: "84px",
    isNumber: true,
    value: ({ oldest_age_s }) => oldest_age_s,
    render: ({ oldest_age_s }) => formatSeconds(oldest_age_s),
  },
  {
    title: "Average wait",
    width: "110px",
    isNumber: true,
    value: ({ average_wait_s }) => average_wait_s,
    render: ({ average_wait_s }) => formatSeconds(average_wait_s),
  },
  { title: "Done today", width: "100px", isNumber: true, value: ({ throughput_today }) => Number(throughput_today) },
  {
    title: "State",
    width: "100px",
    value: ({ paused }) => (paused ? "paused" : "running"),
    render: ({ paused }) => <Status of={paused ? "paused" : "running"} />,
  },
];

/** Queues: what waits, and what holds it. */
export default function Queues({ path: [poolId] }: { readonly path: readonly string[] }) {
  return poolId === undefined ? <QueueList /> : <QueuePage key={poolId} poolId={poolId} />;
}

function QueueList() {
  const isPausedOnly = filterOf("state") === "paused";
  const filters = { paused_only: isPausedOnly, ...environmentFilter() };
  const list = useList(`queues ${JSON.stringify(filters)}`, (page) => queues.list({ ...page, ...filters }), {
    everyMs: 3_000,
    live: ["queue.paused", "queue.resumed", "pool."],
  });
  return (
    <Page question="What waits, for how long, and what holds it?" title="Queues">
      <div class="filters">
        <ChoiceFilter choices={[["paused", "Paused only"]]} label="State" name="state" />
      </div>
      <ListTable
        columns={withEnvironment(columns)}
        empty={
          <FirstPool title="No queue">
            Every pool has a queue. Items wait in it until a recipient has capacity.
          </FirstPool>
        }
        hrefOf={({ pool_id }) => href(`queues/${pool_id}`)}
        keyOf={({ pool_id }) => pool_id}
        label="Queues"
        list={list}
      />
    </Page>
  );
}
