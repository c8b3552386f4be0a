import { type CreateEnvironmentRequest, createEnvironmentService } from "@client/gen/environment";
import { useList } from "../../core/query";
import { useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { ListTable } from "../../ui/page";
import { Ago, Status } from "../../ui/text";

const environments = createEnvironmentService(transport);

/** The environments of the workspace. */
export function Environments() {
  const [isAdding, add] = useAddressedDialog("new", can("environment:write"));
  const list = useList("environments", (page) => environments.list(page), { live: ["environment."] });
  const remove = (id: string, key: string) =>
    confirm({
      title: `Delete the environment ${key}?`,
      consequence: "Nothing can be created in it any more. Its pools and runs stay readable.",
      confirm: "Delete environment",
      typed: key,
      done: "The environment was deleted.",
      act: () => environments.delete({ environment_id: id }).then(list.refresh),
    });
  return (
    <>
      <div class="filters">
        <span class="spacer" />
        {can("environment:write") && (
          <Button icon="plus" onClick={() => add(true)}>
            New environment
          </Button>
        )}
      </div>
      <ListTable
        columns={[
          { title: "Name", value: ({ name, key }) => name || key },
          { title: "Key", width: "160px", value: ({ key }) => key, render: ({ key }) => <code>{key}</code> },
          { title: "Mode", width: "110px", value: ({ mode }) => mode, render: ({ mode }) => <Status of={mode} /> },
          {
            title: "Status",
            width: "110px",
            value: ({ status }) => status,
            render: ({ status }) => <Status of={status} />,
          },
          {
            title: "Created",
            width: "120px",
            value: ({ created_at }) => created_at,
            render: ({ created_at }) => <Ago time={created_at} />,
          },
        ]}
        empty={<Empty title="No environment">An environment separates production from tests.</Empty>}
        keyOf={({ id }) => id}
        label="Environments"
        list={list}
        rowActions={
          can("environment:delete")
            ? ({ id, key }) => (
                <Button onClick={() => remove(id, key)} small tone="quiet">
                  Delete
                </Button>
              )
            : undefined
        }
        rowActionsWidth="90px"
      />
      {isAdding && (
        <FormDialog
          done="The environment was created."
          fields={[
            { name: "key", label: "Key", required: true },
            { name: "name", label: "Name" },
            {
              name: "mode",
              label: "Mode",
              kind: "choice",
              required: true,
              choices: [
                { value: "MODE_SANDBOX", label: "Sandbox" },
                { value: "MODE_LIVE", label: "Live" },
              ],
            },
          ]}
          onClose={() => add(false)}
          onSubmit={async (values) => {
            await environments.create(values as unknown as CreateEnvironmentRequest);
            list.refresh();
          }}
          submit="Create environment"
          title="New environment"
        />
      )}
    </>
  );
}
