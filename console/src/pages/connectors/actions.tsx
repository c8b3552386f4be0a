import { type ConnectorAction, createConnectorCatalogService } from "@client/gen/connector-catalog";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/empty";
import { words } from "../../ui/format";
import { filterOf, ListTable, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Status } from "../../ui/text";
import { ExecuteDialog } from "./execute-dialog";

const catalog = createConnectorCatalogService(transport);

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
      {chosen !== undefined && <ExecuteDialog action={chosen} onClose={() => choose(undefined)} />}
    </>
  );
}
