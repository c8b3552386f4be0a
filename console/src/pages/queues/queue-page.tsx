import { createQueueService, type Queue } from "@client/gen/queue";
import { useMemo, useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href, setQuery, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Stat } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { FormDialog } from "../../ui/form";
import { formatCount, formatSeconds, formatTime } from "../../ui/format";
import { Name } from "../../ui/name";
import { currentTab, filterOf, Page, Ready, Tabs } from "../../ui/page";
import { Ago, Notice, Status } from "../../ui/text";
import { announce, toast } from "../../ui/toast";
import { HistoryCharts } from "../shared/history-charts";
import { RouteItemButton } from "../shared/route-item";
import { AdmissionGroups } from "./admission-groups";
import { BulkOperations } from "./bulk-operations";
import { ItemDrawer } from "./item-drawer";
import { Items } from "./items";
import { Offers } from "./offers";

const queues = createQueueService(transport);
const sampleMs = 2_000;
const tabs = {
  items: "Items",
  offers: "Offers",
  bulk: "Bulk operations",
  charts: "Charts",
  admission: "Admission groups",
};

/** One queue: its depth over time, its items, and the control of it. */
export function QueuePage({ poolId }: { readonly poolId: string }) {
  const queue = useQuery(`queue ${poolId}`, () => queues.getStatus({ pool_id: poolId }), {
    everyMs: sampleMs,
    live: ["queue.paused", "queue.resumed", "queue.drained"],
  });
  const opened = filterOf("open");
  return (
    <Page
      actions={
        queue.data && (
          <>
            <RouteItemButton poolId={poolId} />
            <QueueActions queue={queue.data} refresh={queue.refresh} />
          </>
        )
      }
      badge={queue.data && <Status of={queue.data.paused ? "paused" : "running"} />}
      crumbs={[{ title: "Queues", path: "queues" }]}
      question={
        <>
          What waits here, and what holds it?{" "}
          <a class="link" href={href(`pools/${poolId}`)}>
            Open the pool
          </a>
        </>
      }
      title={queue.data?.pool_name ?? "Queue"}
    >
      <Ready query={queue}>
        {(data) => (
          <>
            {data.paused && (
              <Notice tone="warn">
                Paused by {data.paused_by ? <Name id={data.paused_by} /> : "somebody"} <Ago time={data.paused_at} />
                {data.pause_reason && `: ${data.pause_reason}`}. Items are accepted, and none is handed out.
                {data.paused_until && ` The queue resumes by itself at ${formatTime(data.paused_until)}.`}
              </Notice>
            )}
            <div class="stats">
              <Stat label="Waiting" note={`${formatCount(data.ready_count)} ready`} value={Number(data.depth)} />
              <Stat label="In progress" value={Number(data.in_flight)} />
              <Stat label="Oldest" value={formatSeconds(data.oldest_age_s)} />
              <Stat label="Average wait" value={formatSeconds(data.average_wait_s)} />
              <Stat label="Completed today" value={Number(data.throughput_today)} />
              <Stat label="Failed attempts today" value={Number(data.failed_today)} />
            </div>
            <Tabs label="Parts of the queue" tabs={tabs} />
            <Part queue={data} />
          </>
        )}
      </Ready>
      {opened !== undefined && (
        <ItemDrawer itemId={opened} onClose={() => setQuery({ open: undefined })} poolId={poolId} />
      )}
    </Page>
  );
}

function Part({ queue }: { readonly queue: Queue }) {
  switch (currentTab(tabs)) {
    case "items":
      return <Items isPaused={queue.paused} poolId={queue.pool_id} />;
    case "offers":
      return <Offers poolId={queue.pool_id} />;
    case "bulk":
      return <BulkOperations poolId={queue.pool_id} poolName={queue.pool_name} />;
    case "charts":
      return <Charts queue={queue} />;
    case "admission":
      return <AdmissionGroups poolId={queue.pool_id} />;
  }
}

function Charts({ queue }: { readonly queue: Queue }) {
  const live = useMemo(
    () => ({
      waiting: queue.depth,
      in_progress: queue.in_flight,
      oldest_age_s: queue.oldest_age_s,
      started: queue.accepted_today,
      completed: queue.throughput_today,
      failed: queue.failed_today,
    }),
    [queue],
  );
  return (
    <HistoryCharts
      charts={[
        {
          title: "Waiting and in progress",
          lines: { waiting: "Waiting", in_progress: "In progress" },
        },
        {
          title: "Items per minute",
          lines: {
            started: "Accepted",
            completed: "Completed",
            failed: "Failed attempts",
            dead_lettered: "Dead letters",
          },
        },
        { title: "Age of the oldest item", lines: { oldest_age_s: "Oldest" }, format: formatSeconds },
      ]}
      live={live}
      source="pool"
      sourceId={queue.pool_id}
    />
  );
}

function QueueActions({ queue, refresh }: { readonly queue: Queue; readonly refresh: () => void }) {
  const [isPausing, pause] = useAddressedDialog("pause", can("queue:write"));
  const [isDraining, drain] = useState(false);
  if (!can("queue:write")) return null;
  const resume = () => announce(queues.resume({ pool_id: queue.pool_id }), "The queue hands out items again.", refresh);
  return (
    <>
      {queue.paused ? (
        <Button onClick={resume} tone="primary">
          Resume
        </Button>
      ) : (
        <Button onClick={() => pause(true)}>Pause</Button>
      )}
      <Button onClick={() => drain(true)} tone="danger-text">
        Drain
      </Button>
      {isPausing && (
        <FormDialog
          done="The queue is paused."
          fields={[
            { name: "reason", label: "Reason", hint: "Shown to everybody who looks at the queue." },
            { name: "for_s", label: "For", kind: "duration", hint: "Without a time, until somebody resumes it." },
          ]}
          onClose={() => pause(false)}
          onSubmit={async (values) => {
            await queues.pause({ ...values, pool_id: queue.pool_id });
            refresh();
          }}
          submit="Pause queue"
          title={`Pause ${queue.pool_name}? Items are still accepted, and none is handed out`}
        />
      )}
      {isDraining && (
        <FormDialog
          fields={[
            {
              name: "max_items",
              label: "Remove at most",
              kind: "number",
              required: true,
              hint: "Waiting items are removed without being processed, oldest first.",
            },
            { name: "reason", label: "Reason" },
          ]}
          initial={{ max_items: 1000 }}
          onClose={() => drain(false)}
          onSubmit={async (values) => askToDrain(queue, values, refresh)}
          submit="Continue"
          title={`Drain ${queue.pool_name}`}
        />
      )}
    </>
  );
}

function askToDrain(queue: Queue, values: Record<string, unknown>, refresh: () => void): void {
  confirm({
    title: `Remove waiting items from ${queue.pool_name}?`,
    consequence: `Up to ${formatCount(values.max_items as number)} items are removed without being processed, oldest first. They cannot be brought back.`,
    confirm: "Remove items",
    typed: queue.pool_name,
    act: async () => {
      const drain = { ...values, max_items: Number(values.max_items), pool_id: queue.pool_id };
      const { drained_count: removed, remaining_depth: left } = await queues.drain(drain);
      toast(
        `${removed === 1 ? "1 item was" : `${formatCount(removed)} items were`} removed, ${formatCount(left)} still ${left === 1 ? "waits" : "wait"}.`,
      );
      refresh();
    },
  });
}
