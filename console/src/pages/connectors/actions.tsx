import { createConnectorActionService, type ExecuteActionRequest } from "@client/gen/connector-action";
import { type ConnectorAction, createConnectorCatalogService } from "@client/gen/connector-catalog";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickConnection } from "../../palette/picker-sources";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { filterOf, ListTable, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Status } from "../../ui/text";

const catalog = createConnectorCatalogService(transport);
const executor = createConnectorActionService(transport);

const columns: readonly Column<ConnectorAction>[] = [
  { title: "Action", value: ({ title }) => title },
  { title: "Key", value: ({ key }) => key, render: ({ key }) => <code>{key}</code> },
  { title: "Provider", width: "130px", value: ({ provider_key }) => provider_key },
  { title: "Effect", width: "110px", value: ({ mutation }) => words(mutation?.effect) },
  {
    title: "State",
    width: "140px",
    value: ({ runtime_status }) => runtime_status,
    render: ({ runtime_status }) => <Status of={runtime_status} />,
  },
];

/** The actions that can be executed, also by hand. */
export function Actions() {
  const [chosen, choose] = useState<ConnectorAction>();
  const query = filterOf("q");
  const list = useList(`actions ${query}`, (page) => catalog.listActions({ ...page, query }));
  return (
    <>
      <div class="filters">
        <TextFilter label="Search actions" name="q" />
      </div>
      <ListTable
        columns={columns}
        empty={<Empty title="No action matches">Change the search.</Empty>}
        keyOf={({ key }) => key}
        label="Actions"
        list={list}
        rowActions={
          can("connector_action:execute")
            ? (action) =>
                action.runtime_status === "executable" && (
                  <Button onClick={() => choose(action)} small tone="quiet">
                    Execute
                  </Button>
                )
            : undefined
        }
        rowActionsWidth="100px"
      />
      {chosen !== undefined && (
        <FormDialog
          done="The action was executed."
          fields={[
            { name: "connection_id", label: "Connection", from: pickConnection(chosen.provider_key) },
            { name: "input", label: "Input", kind: "json", hint: requiredText(chosen) },
            { name: "dry_run", label: "Only show the request, do not send it", kind: "flag" },
          ]}
          initial={{ input: {}, dry_run: true }}
          onClose={() => choose(undefined)}
          onSubmit={async (values) => {
            const { execution } = await executor.execute({ ...values, key: chosen.key } as ExecuteActionRequest);
            navigate(href("connectors", { tab: "executions", open: execution?.id }));
          }}
          submit="Execute"
          title={chosen.title}
        />
      )}
    </>
  );
}

function requiredText({ input_properties }: ConnectorAction): string {
  const required = input_properties.filter((property) => property.required).map(({ name }) => name);
  return required.length === 0 ? "No field is required." : `Required: ${required.join(", ")}.`;
}
