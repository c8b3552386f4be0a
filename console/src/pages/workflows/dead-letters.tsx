import { createWorkflowDeadLetterService, type WorkflowDeadLetter } from "@client/gen/workflow-dead-letter";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { filterOf, ListTable, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Id, Status } from "../../ui/text";
import { announce } from "../../ui/toast";
import { withEnvironment } from "../shared/environment";

const deadLetters = createWorkflowDeadLetterService(transport);

const columns: readonly Column<WorkflowDeadLetter>[] = [
  { title: "Run", width: "140px", value: ({ run_id }) => run_id, render: ({ run_id }) => <Id id={run_id} /> },
  { title: "Workflow", value: ({ definition_key, version }) => `${definition_key} · v${version}` },
  {
    title: "State",
    width: "120px",
    value: ({ state }) => state,
    render: ({ state }) => <Status of={state} tone={state === "open" ? "bad" : undefined} />,
  },
  { title: "Error", value: ({ error_code, error_message }) => `${error_code}: ${error_message}` },
  { title: "Step", width: "120px", value: ({ step }) => step },
  { title: "Replays", width: "90px", isNumber: true, value: ({ replay_count }) => replay_count },
  {
    title: "Failed",
    width: "110px",
    value: ({ failed_at }) => failed_at,
    render: ({ failed_at }) => <Ago time={failed_at} />,
  },
];

/** Runs that failed, and their replay. */
export function DeadLetters() {
  const error_code = filterOf("code");
  const filters = { error_code, ...environmentFilter() };
  const list = useList(
    `workflow dead ${JSON.stringify(filters)}`,
    (page) => deadLetters.list({ ...page, ...filters }),
    {
      live: ["workflow."],
    },
  );
  const replay = ({ run_id }: WorkflowDeadLetter) =>
    announce(
      deadLetters.replay({ run_id, reason: "replayed in the console" }),
      "The run was replayed from the step that failed.",
      list.refresh,
    );
  const replayAll = () =>
    confirm({
      title: "Replay all failed runs?",
      consequence: `A new run continues each failed one${error_code ? ` with the code ${error_code}` : ""}, from the step that failed.`,
      confirm: "Replay all",
      done: "The runs were replayed.",
      act: () => deadLetters.replayAll({ ...filters, reason: "replayed in the console" }).then(list.refresh),
    });
  return (
    <>
      <div class="filters">
        <TextFilter label="Error code" name="code" />
        <span class="spacer" />
        {can("workflow_dlq:write") && list.rows.length > 0 && <Button onClick={replayAll}>Replay all</Button>}
      </div>
      <ListTable
        columns={withEnvironment(columns)}
        empty={
          <Empty title="No dead letter">
            Runs that fail come here, so that they can be replayed after the cause is fixed.
          </Empty>
        }
        hrefOf={({ run_id }) => href(`workflows/runs/${run_id}`)}
        keyOf={({ run_id }) => run_id}
        label="Failed runs"
        list={list}
        rowActions={
          can("workflow_dlq:write")
            ? (letter) => (
                <Button onClick={() => replay(letter)} small tone="quiet">
                  Replay
                </Button>
              )
            : undefined
        }
        rowActionsWidth="90px"
      />
    </>
  );
}
