import { createAnomalyService } from "@client/gen/anomaly";
import { createDeadLetterService } from "@client/gen/dead-letter";
import { createEventService } from "@client/gen/event";
import { createQueueService, type Queue } from "@client/gen/queue";
import { createWorkflowApprovalService } from "@client/gen/workflow-approval";
import { createWorkflowRunService } from "@client/gen/workflow-run";
import { useList, useQuery } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Card, Stat } from "../../ui/card";
import { Chart } from "../../ui/chart";
import { useSamples } from "../../ui/chart/samples";
import { Empty, samplesOf } from "../../ui/empty";
import { formatSeconds } from "../../ui/format";
import { nameColumn } from "../../ui/name";
import { Page, Ready } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago, Status } from "../../ui/text";

const sampleMs = 3_000;
const queuesMax = 200;

const queues = createQueueService(transport);
const deadLetters = createDeadLetterService(transport);
const events = createEventService(transport);

/** Sums over all queues. */
interface Totals {
  readonly depth: number;
  readonly inFlight: number;
  readonly oldestS: number;
  readonly completed: number;
  readonly failed: number;
  readonly paused: number;
}

function totalsOf(all: readonly Queue[]): Totals {
  const sum = (value: (queue: Queue) => number | string) =>
    all.reduce((total, queue) => total + Number(value(queue)), 0);
  return {
    depth: sum(({ depth }) => depth),
    inFlight: sum(({ in_flight }) => in_flight),
    oldestS: Math.max(0, ...all.map(({ oldest_age_s }) => oldest_age_s)),
    completed: sum(({ throughput_today }) => throughput_today),
    failed: sum(({ failed_today }) => failed_today),
    paused: all.filter(({ paused }) => paused).length,
  };
}

/** Current activity of the workspace, and what needs attention. */
export default function Overview() {
  const list = useQuery("overview queues", () => queues.list({ limit: queuesMax }).page(), { everyMs: sampleMs });
  return (
    <Page question="What is happening, and what needs me?" title="Overview">
      <Ready query={list}>
        {({ items }) => (items.length === 0 ? <FirstSteps /> : <Summary key="summary" queues={items} />)}
      </Ready>
    </Page>
  );
}

function FirstSteps() {
  return (
    <Empty
      samples={samplesOf({
        path: "/api/pools",
        body: { name: "support", strategy: "least_loaded" },
        cli: "pool create --name support --strategy least_loaded",
        sdk: `pools.create({ name: "support", strategy: "least_loaded" })`,
      })}
      title="Nothing is routed yet"
    >
      A pool is a group of recipients with the rules that choose among them. Create one, and its queue appears here. To
      see everything with traffic first, start the service with <code>npm start -- --demo</code>.
    </Empty>
  );
}

function Summary({ queues: all }: { readonly queues: readonly Queue[] }) {
  const totals = totalsOf(all);
  const samples = useSamples("overview", totals as Totals & Record<string, number>);
  const rates = rateOf(samples.of("completed"));
  const waiting = all.toSorted((a, b) => Number(b.depth) - Number(a.depth)).slice(0, 8);
  return (
    <>
      <div class="stats">
        <Stat
          href={href("queues")}
          label="Waiting"
          note={`oldest ${formatSeconds(totals.oldestS)}`}
          value={totals.depth}
        />
        <Stat href={href("queues")} label="In progress" value={totals.inFlight} />
        <Stat label="Completed today" value={totals.completed} />
        <Stat label="Failed attempts today" tone={totals.failed > 0 ? "warn" : undefined} value={totals.failed} />
        <Attention queues={all} paused={totals.paused} />
      </div>
      <div class="columns">
        <Card title="Waiting and in progress">
          <Chart
            label="Items that wait and items in progress since this page was opened"
            positions={samples.times}
            series={[
              { name: "Waiting", values: samples.of("depth") },
              { name: "In progress", values: samples.of("inFlight") },
            ]}
          />
        </Card>
        <Card title="Completed per second">
          <Chart
            label="Items completed per second since this page was opened"
            positions={samples.times.slice(1)}
            series={[{ name: "Completed", values: rates }]}
          />
        </Card>
      </div>
      <div class="columns">
        <Card flush title="Fullest queues">
          <Table
            columns={[
              { title: "Queue", value: ({ pool_name }) => pool_name },
              { title: "Waiting", isNumber: true, width: "90px", value: ({ depth }) => Number(depth) },
              {
                title: "Oldest",
                isNumber: true,
                width: "110px",
                value: ({ oldest_age_s }) => oldest_age_s,
                render: ({ oldest_age_s }) => formatSeconds(oldest_age_s),
              },
              {
                title: "State",
                width: "110px",
                value: ({ paused }) => (paused ? "paused" : "running"),
                render: ({ paused }) => <Status of={paused ? "paused" : "running"} />,
              },
            ]}
            hrefOf={({ pool_id }) => href(`queues/${pool_id}`)}
            keyOf={({ pool_id }) => pool_id}
            label="Fullest queues"
            rows={waiting}
          />
        </Card>
        {can("event:read") && <Recent />}
      </div>
    </>
  );
}

/** Work that waits for a person: dead letters, approvals, failed runs and anomalies. */
function Attention({ queues: all, paused }: { readonly queues: readonly Queue[]; readonly paused: number }) {
  const dead = useQuery(
    can("dlq:read") ? `overview dead ${all.map(({ pool_id }) => pool_id).join()}` : undefined,
    async () => {
      const stats = await Promise.all(all.slice(0, 20).map(({ pool_id }) => deadLetters.getStats({ pool_id })));
      return stats.reduce((sum, { depth }) => sum + Number(depth), 0);
    },
    { live: ["queue.item.dead_lettered", "dead_letter."] },
  );
  const approvals = useQuery(
    can("workflow_run:read") ? "overview approvals" : undefined,
    () => createWorkflowApprovalService(transport).list({ limit: 1 }).page(),
    { live: ["workflow."] },
  );
  const failed = useQuery(
    can("workflow_run:read") ? "overview failed" : undefined,
    () => createWorkflowRunService(transport).list({ limit: 1, status: "failed" }).page(),
    { live: ["workflow."] },
  );
  const anomalies = useQuery(
    can("anomaly:read") ? "overview anomalies" : undefined,
    () => createAnomalyService(transport).list({ limit: 1 }).page(),
    { live: ["anomaly."] },
  );
  const tone = (count: number | undefined) => ((count ?? 0) > 0 ? "bad" : undefined);
  return (
    <>
      <Stat href={href("dead-letters")} label="Dead letters" tone={tone(dead.data)} value={dead.data} />
      <Stat
        href={href("workflows", { tab: "approvals" })}
        label="Approvals"
        tone={approvals.data?.total ? "warn" : undefined}
        value={approvals.data?.total}
      />
      <Stat
        href={href("workflows", { tab: "runs", status: "failed" })}
        label="Failed runs"
        tone={tone(failed.data?.total)}
        value={failed.data?.total}
      />
      <Stat label="Anomalies" tone={tone(anomalies.data?.total)} value={anomalies.data?.total} />
      {paused > 0 && <Stat href={href("queues")} label="Paused queues" tone="warn" value={paused} />}
    </>
  );
}

function Recent() {
  const list = useList("overview events", (page) => events.list({ ...page, limit: 12 }), { live: [""] });
  return (
    <Card
      actions={
        <a class="link" href={href("events")}>
          All events
        </a>
      }
      flush
      title="Recent events"
    >
      <Table
        columns={[
          { title: "Event", value: ({ type }) => type },
          nameColumn({ title: "Record", width: "190px", id: ({ subject }: { subject: string }) => subject }),
          { title: "When", width: "100px", value: ({ time }) => time, render: ({ time }) => <Ago time={time} /> },
        ]}
        hrefOf={({ id }) => href("events", { open: id })}
        keyOf={({ id }) => id}
        label="Recent events"
        rows={list.rows.slice(0, 12)}
      />
    </Card>
  );
}

/** Differences per second between samples. A counter that starts again counts from zero. */
function rateOf(values: readonly number[]): number[] {
  return values.slice(1).map((value, index) => Math.max(0, value - values[index]!) / (sampleMs / 1000));
}
