import { createWorkflowDefinitionService, type WorkflowDefinition } from "@client/gen/workflow-definition";
import { useList } from "../../core/query";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/empty";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { firstText } from "./first-text";

const definitions = createWorkflowDefinitionService(transport);

const columns: readonly Column<WorkflowDefinition>[] = [
  { title: "Name", value: ({ name, key }) => name || key },
  { title: "Key", value: ({ key }) => key, render: ({ key }) => <code>{key}</code> },
  { title: "Status", width: "120px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  { title: "Version", width: "90px", isNumber: true, value: ({ active_version }) => active_version },
  {
    title: "Draft",
    width: "150px",
    value: ({ has_unpublished_changes }) => (has_unpublished_changes ? "unpublished changes" : ""),
  },
  {
    title: "Changed",
    width: "120px",
    value: ({ updated_at }) => updated_at,
    render: ({ updated_at }) => <Ago time={updated_at} />,
  },
];

const samples = {
  curl: `curl -sS -X POST '$ORIGIN/api/workflow-definitions:import' \\\n  -H "X-API-Key: $SWITCHYARD_KEY" -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ text: firstText })}'`,
  cli: "service workflow-definition import --text @greeting.yaml",
  sdk: `await client.workflowDefinitions.import({ text: await readFile("greeting.yaml", "utf8") });`,
};

export function Definitions() {
  const status = filterOf("status") as WorkflowDefinition["status"] | undefined;
  const list = useList(`definitions ${status}`, (page) => definitions.list({ ...page, status }), {
    live: ["workflow."],
  });
  return (
    <>
      <div class="filters">
        <ChoiceFilter
          choices={["DRAFT", "PUBLISHED", "ARCHIVED"].map((each) => [`STATUS_${each}`, words(each)])}
          label="Status"
          name="status"
        />
        <span class="spacer" />
        {can("workflow_definition:write") && (
          <Button icon="plus" onClick={() => navigate(href("workflows/definitions/new"))}>
            New workflow
          </Button>
        )}
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty samples={samples} title="No definition">
            A definition is a document in YAML or JSON: steps, branches, waits, approvals and retries.
          </Empty>
        }
        hrefOf={({ id }) => href(`workflows/definitions/${id}`)}
        keyOf={({ id }) => id}
        label="Definitions"
        list={list}
      />
    </>
  );
}
