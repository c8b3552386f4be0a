import { createWorkflowRunService, type WorkflowRun } from "@client/gen/workflow-run";
import { useState } from "preact/hooks";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty, samplesOf } from "../../ui/empty";
import { formatMinute, words } from "../../ui/format";
import { proseColumn } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { withEnvironment } from "../shared/environment";
import { ChangeRunsDialog } from "./change-runs";

const runs = createWorkflowRunService(transport);
const statuses = ["pending", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "timed_out"];

const columns: readonly Column<WorkflowRun>[] = [
  { title: "Run", value: runText },
  { title: "Version", width: "90px", value: ({ version }) => `v${version}` },
  {
    title: "Status",
    width: "118px",
    value: ({ status }) => status,
    render: ({ status }) => <Status of={status} tone={runTone(status)} />,
  },
  proseColumn("Error", ({ error }) => error?.message),
  {
    title: "Started",
    width: "110px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
  {
    title: "Ended",
    width: "110px",
    value: ({ ended_at }) => ended_at,
    render: ({ ended_at }) => <Ago time={ended_at} />,
  },
];

/** A run in few words: its workflow, and its key or the time at which it was started. */
export function runText({ definition_key, run_key, created_at }: WorkflowRun): string {
  return `${definition_key} · ${run_key || formatMinute(created_at!)}`;
}

export function runTone(status: string) {
  if (status === "running") return "info" as const;
  if (status === "timed_out") return "bad" as const;
  return undefined;
}

/** The runs of all workflows, or of one. */
export function Runs({ definitionId }: { readonly definitionId?: string }) {
  const [isChanging, change] = useState(false);
  const shown = { status: filterOf("status"), definition_id: definitionId, ...environmentFilter() };
  const filters = { ...shown, run_key: filterOf("run_key") };
  const list = useList(
    `runs ${JSON.stringify(filters)}`,
    (page) => runs.list({ ...page, ...filters } as Parameters<typeof runs.list>[0]),
    { everyMs: 4_000, live: ["workflow."] },
  );
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={statuses.map((each) => [each, words(each)])} label="Status" name="status" />
        <TextFilter label="Run key" name="run_key" />
        <span class="spacer" />
        {can("workflow_run:write") && !filters.run_key && <Button onClick={() => change(true)}>Change runs</Button>}
      </div>
      {isChanging && <ChangeRunsDialog filter={shown} onClose={() => change(false)} refresh={list.refresh} />}
      <ListTable
        columns={withEnvironment(columns)}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/workflow-runs",
              body: { definition: "refund", input: { order: "A-1", amount: 20 } },
              cli: `workflow-run start --definition refund --input '{"order": "A-1", "amount": 20}'`,
              sdk: `workflowRuns.start({ definition: "refund", input: { order: "A-1", amount: 20 } })`,
            })}
            title="No run"
          >
            A run executes one published version of a workflow to its end, whatever crashes in between.
          </Empty>
        }
        hrefOf={({ id }) => href(`workflows/runs/${id}`)}
        keyOf={({ id }) => id}
        label="Runs"
        list={list}
      />
    </>
  );
}
