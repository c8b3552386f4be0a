import { createWorkflowRunService, type WorkflowRun } from "@client/gen/workflow-run";
import { useMemo } from "preact/hooks";
import { useList } from "../../core/query";
import { setQuery, withQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { formatClock, words } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { filterOf } from "../../ui/page";
import { type Column, Table } from "../../ui/table";
import { Status } from "../../ui/text";
import type { HistoryEntry } from "./step-states";

const runs = createWorkflowRunService(transport);

interface Row {
  readonly key: string;
  readonly number: number;
  readonly at: string | undefined;
  readonly entry: HistoryEntry;
}

const columns: readonly Column<Row>[] = [
  { title: "#", width: "90px", isNumber: true, value: ({ number }) => number },
  {
    title: "Time",
    width: "130px",
    value: ({ at }) => at,
    render: ({ at }) => <span class="mono">{formatClock(at)}</span>,
  },
  {
    title: "What",
    width: "190px",
    value: ({ entry }) => words(entry.kind),
    render: ({ entry }) => <Status of={words(entry.kind)} tone={toneOf(entry.kind)} />,
  },
  { title: "Step", width: "180px", value: ({ entry }) => entry.step },
  { title: "Details", value: ({ entry }) => detailsOf(entry), render: ({ entry }) => <code>{detailsOf(entry)}</code> },
];

const detailCharsMax = 240;

function detailsOf({ kind, step, ...details }: HistoryEntry): string {
  const text = JSON.stringify(details);
  return text === "{}" ? "" : text.slice(0, detailCharsMax);
}

function toneOf(kind: string) {
  if (kind.includes("fail")) return "bad" as const;
  if (kind.includes("completed")) return "ok" as const;
  if (kind.includes("wait") || kind.includes("approval")) return "warn" as const;
  return "muted" as const;
}

/** Everything that happened to a run, in order. Runs with tens of thousands of entries are read page by page. */
export function RunHistory({ run }: { readonly run: WorkflowRun }) {
  const list = useList(`history ${run.id}`, (page) => runs.getHistory({ ...page, run_id: run.id }), {
    live: ["workflow."],
  });
  const rows = useMemo(
    () =>
      list.rows
        .flatMap(({ revision, at, entries }) =>
          (entries as unknown as readonly HistoryEntry[]).map((entry, index) => ({
            key: `${revision}-${index}`,
            at,
            entry,
          })),
        )
        .map((row, index): Row => ({ ...row, number: index + 1 })),
    [list.rows],
  );
  const opened = rows.find(({ key }) => key === filterOf("open"));
  if (rows.length === 0) return <Empty title="No entry">The history begins when the run starts.</Empty>;
  return (
    <>
      <Table
        columns={columns}
        hasMore={list.hasMore}
        hrefOf={({ key }) => withQuery({ open: key })}
        keyOf={({ key }) => key}
        label="History"
        onMore={list.more}
        rows={rows}
      />
      {opened !== undefined && (
        <Dialog kind="drawer" onClose={() => setQuery({ open: undefined })} title={words(opened.entry.kind)}>
          <div class="dialog-body">
            <JsonView label="Entry of the history" value={opened.entry} />
          </div>
        </Dialog>
      )}
    </>
  );
}
