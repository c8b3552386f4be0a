import { createAnomalyService } from "@client/gen/anomaly";
import { createDeadLetterService } from "@client/gen/dead-letter";
import { createEventService } from "@client/gen/event";
import { createQueueService, type QueueTotals } from "@client/gen/queue";
import { createWorkflowApprovalService } from "@client/gen/workflow-approval";
import { createWorkflowRunService } from "@client/gen/workflow-run";
import { useMemo } from "preact/hooks";
import { environmentFilter } from "../../core/environments";
import { useList, useQuery } from "../../core/query";
import { environment, href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Card, Stat } from "../../ui/card";
import { formatSeconds } from "../../ui/format";
import { nameColumn } from "../../ui/name";
import { Page, Ready } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { FirstPool } from "../shared/first-pool";
import { HistoryCharts } from "../shared/history-charts";

const sampleMs = 3_000;

const queues = createQueueService(transport);
const deadLetters = createDeadLetterService(transport);
const events = createEventService(transport);

/** Current activity of the workspace, or of one of its environments, and what needs attention. */
export default function Overview() {
  const totals = useQuery(ofEnvironment("totals"), () => queues.getTotals(environmentFilter()), { everyMs: sampleMs });
  return (
    <Page question="What is happening, and what needs me?" title="Overview">
      <Ready query={totals}>
        {(data) =>
          data.queue_count === 0 && environment.value === undefined ? <FirstSteps /> : <Summary totals={data} />
        }
      </Ready>
    </Page>
  );
}

/** The key of a query for the environment that is shown. */
function ofEnvironment(query: string): string {
  return `overview ${query} ${environment.value}`;
}

function FirstSteps() {
  return (
    <FirstPool title="Nothing is routed yet">
      A pool is a group of recipients with the rules that choose among them. Create one, and its queue appears here. To
      see everything with traffic first, start the service with <code>npm start -- --demo</code>.
    </FirstPool>
  );
}

function Summary({ totals }: { readonly totals: QueueTotals }) {
  const live = useMemo(
    () => ({
      waiting: totals.depth,
      in_progress: totals.in_flight,
      started: totals.accepted_today,
      completed: totals.completed_today,
      failed: totals.failed_today,
    }),
    [totals],
  );
  return (
    <>
      <div class="stats">
        <Stat
          href={href("queues")}
          label="Waiting"
          note={totals.depth > 0 ? `oldest ${formatSeconds(totals.oldest_age_s)}` : undefined}
          value={totals.depth}
        />
        <Stat href={href("queues")} label="In progress" value={totals.in_flight} />
        <Stat label="Completed today" value={totals.completed_today} />
        <Stat
          label="Failed attempts today"
          tone={totals.failed_today > 0 ? "warn" : undefined}
          value={totals.failed_today}
        />
        <Attention paused={totals.paused_count} />
      </div>
      <HistoryCharts
        charts={[
          { title: "Waiting and in progress", lines: { waiting: "Waiting", in_progress: "In progress" } },
          {
            title: "Items per minute",
            lines: { started: "Accepted", completed: "Completed", failed: "Failed attempts" },
          },
        ]}
        live={live}
        source="pool"
      />
      <div class="columns">
        <Card flush={totals.fullest.length > 0} title="Fullest queues">
          {totals.fullest.length === 0 ? (
            <p class="soft">Nothing waits in any queue.</p>
          ) : (
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
              rows={totals.fullest}
            />
          )}
        </Card>
        {can("event:read") && <Recent />}
      </div>
    </>
  );
}

/** Work that waits for a person: dead letters, approvals, failed runs and anomalies. */
function Attention({ paused }: { readonly paused: number }) {
  const filter = environmentFilter();
  const dead = useQuery(
    can("dlq:read") ? ofEnvironment("dead") : undefined,
    () => deadLetters.getStats({ pool_id: "-", ...filter }),
    { live: ["queue.item.dead_lettered", "dead_letter."] },
  );
  const approvals = useQuery(
    can("workflow_run:read") ? ofEnvironment("approvals") : undefined,
    () =>
      createWorkflowApprovalService(transport)
        .list({ limit: 1, ...filter })
        .page(),
    { live: ["workflow."] },
  );
  const failed = useQuery(
    can("workflow_run:read") ? ofEnvironment("failed") : undefined,
    () =>
      createWorkflowRunService(transport)
        .list({ limit: 1, status: "failed", ...filter })
        .page(),
    { live: ["workflow."] },
  );
  const anomalies = useQuery(
    can("anomaly:read") ? ofEnvironment("anomalies") : undefined,
    () =>
      createAnomalyService(transport)
        .list({ limit: 1, ...filter })
        .page(),
    { live: ["anomaly."] },
  );
  const tone = (count: number | undefined) => ((count ?? 0) > 0 ? "bad" : undefined);
  return (
    <>
      <Stat href={href("dead-letters")} label="Dead letters" tone={tone(dead.data?.depth)} value={dead.data?.depth} />
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
  const list = useList(ofEnvironment("events"), (page) => events.list({ ...page, limit: 12, ...environmentFilter() }), {
    live: [""],
  });
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
