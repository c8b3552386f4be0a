import { createNotificationService, type NotificationRun, type StepOutcome } from "@client/gen/notification";
import { useList, useQuery } from "../../core/query";
import { href, setQuery, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm, Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { formatTime, words } from "../../ui/format";
import { Name, nameColumn } from "../../ui/name";
import { filterOf, ListTable, Ready, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Facts, Id, Notice, Status, type Tone } from "../../ui/text";

const notifications = createNotificationService(transport);
const ended = new Set(["completed", "stopped", "cancelled"]);

const columns: readonly Column<NotificationRun>[] = [
  { title: "Workflow", value: ({ workflow_key }) => workflow_key },
  nameColumn({ title: "Subscriber", kind: "subscriber", id: ({ subscriber_id }) => subscriber_id }),
  { title: "Status", width: "120px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  { title: "Step", width: "150px", value: ({ step_key }) => step_key || undefined },
  { title: "Why", width: "150px", value: ({ reason }) => (reason === "" ? undefined : words(reason)) },
  {
    title: "Continues",
    width: "120px",
    value: ({ wake_at }) => wake_at,
    render: ({ wake_at, status }) => (ended.has(status) ? undefined : <Ago time={wake_at} />),
  },
  {
    title: "Started",
    width: "120px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
];

/** The way of each recipient through the steps of a workflow: what waits, and for what. */
export function Runs() {
  const transactionId = filterOf("transaction");
  const opened = filterOf("open");
  const list = useList(
    `notification runs ${transactionId}`,
    (page) => notifications.listRuns({ ...page, transaction_id: transactionId }),
    { everyMs: 4_000, live: ["notification."] },
  );
  return (
    <>
      <div class="filters">
        <TextFilter label="Transaction id" name="transaction" />
      </div>
      <ListTable
        columns={columns}
        empty={
          transactionId === undefined ? (
            <Empty title="No run">
              A trigger of a workflow with steps starts a run for each recipient. Open a workflow and choose{" "}
              <strong>Steps</strong> to add some.
            </Empty>
          ) : (
            <Empty title="No run of this trigger">
              Its workflow has no steps, or the id is not the one of a trigger.
            </Empty>
          )
        }
        hrefOf={({ id }) => withQuery({ open: id })}
        keyOf={({ id }) => id}
        label="Runs of notifications"
        list={list}
      />
      {opened !== undefined && (
        <RunDrawer id={opened} onClose={() => setQuery({ open: undefined })} refresh={list.refresh} />
      )}
    </>
  );
}

interface DrawerProps {
  readonly id: string;
  readonly refresh: () => void;
  readonly onClose: () => void;
}

function RunDrawer({ id, refresh, onClose }: DrawerProps) {
  const run = useQuery(`notification run ${id}`, () => notifications.getRun({ run_id: id }), {
    everyMs: 3_000,
    live: ["notification."],
  });
  const refreshBoth = () => {
    run.refresh();
    refresh();
  };
  return (
    <Dialog
      actions={run.data && <CancelButton refresh={refreshBoth} run={run.data} />}
      kind="drawer"
      onClose={onClose}
      title={run.data?.workflow_key ?? "Run"}
    >
      <div class="dialog-body">
        <Ready query={run}>
          {(data) => (
            <>
              <Position run={data} />
              <RunFacts run={data} />
              {data.outcomes.length > 0 && <Outcomes run={data} />}
            </>
          )}
        </Ready>
      </div>
    </Dialog>
  );
}

/** Where the run is, in a sentence. */
function Position({ run: { status, reason, step_key, wake_at } }: { readonly run: NotificationRun }) {
  if (status === "completed" && reason === "") return <Notice tone="ok">All steps are done.</Notice>;
  if (ended.has(status)) return <Notice tone="warn">It ended early: {words(reason).toLowerCase()}.</Notice>;
  if (status === "collected") return <Notice tone="info">Another run sends it, together with later triggers.</Notice>;
  return (
    <Notice tone="info">
      {step_key === "" ? "It is about to start" : `It waits in the step ${step_key}`}
      {wake_at !== undefined && `, until ${formatTime(wake_at)}`}.
    </Notice>
  );
}

function RunFacts({ run }: { readonly run: NotificationRun }) {
  return (
    <Facts
      of={{
        Status: <Status of={run.status} />,
        Subscriber: <Name id={run.subscriber_id} kind="subscriber" />,
        Topic: run.topic_key,
        "Triggers collected": run.digest_count > 0 ? run.digest_count : undefined,
        "Collected by": run.leader_run_id && <Name id={run.leader_run_id} kind="notification_run" />,
        Messages: (
          <a class="link" href={href("notifications", { transaction: run.transaction_id })}>
            All of this trigger
          </a>
        ),
        "Transaction id": <Id id={run.transaction_id} />,
        Started: formatTime(run.created_at),
        Id: <Id id={run.id} />,
      }}
    />
  );
}

const outcomeTones: Readonly<Record<string, Tone>> = {
  sent: "ok",
  waited: "ok",
  passed: "ok",
  seen: "ok",
  read: "ok",
  waiting: "info",
  collected: "info",
  throttled: "bad",
  skipped: "warn",
  timed_out: "warn",
};

function Outcomes({ run: { outcomes } }: { readonly run: NotificationRun }) {
  return (
    <>
      <h3>Steps</h3>
      <ol class="steps">
        {outcomes.map((outcome, index) => (
          <li data-tone={outcomeTones[outcome.outcome]} key={`${outcome.step_key} ${index}`}>
            <span>
              <strong>{outcome.step_key}</strong> <span class="soft">{words(outcome.outcome).toLowerCase()}</span>
            </span>
            <span class="when">
              <Ago time={outcome.at} />
            </span>
            <span class="detail">{detailOf(outcome)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

function detailOf({ detail, reason, outcome, until }: StepOutcome): string {
  const why = detail || (reason === "" ? "" : words(reason));
  if (outcome !== "waiting" || until === undefined) return why;
  return [why, `until ${formatTime(until)}`].filter(Boolean).join(", ");
}

function CancelButton({ run, refresh }: { readonly run: NotificationRun; readonly refresh: () => void }) {
  if (ended.has(run.status) || !can("notification:write")) return null;
  const cancel = () =>
    confirm({
      title: "Cancel what this trigger has not sent?",
      consequence: "All its waiting runs and queued messages are cancelled. What a provider has is not recalled.",
      confirm: "Cancel the trigger",
      done: "The trigger was cancelled.",
      act: () => notifications.cancel({ transaction_id: run.transaction_id }).then(refresh),
    });
  return (
    <Button onClick={cancel} small tone="danger-text">
      Cancel
    </Button>
  );
}
