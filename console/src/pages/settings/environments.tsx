import { type CreateEnvironmentRequest, createEnvironmentService, type Environment } from "@client/gen/environment";
import { useState } from "preact/hooks";
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
  const [edited, edit] = useState<Environment>();
  const list = useList("environments", (page) => environments.list(page), { live: ["environment."] });
  const mayChangePolicy = can("environment:write") && can("promotion:approve");
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
            title: "Approvals",
            width: "150px",
            value: ({ promotion_policy }) => promotion_policy?.approvals,
            render: ({ promotion_policy: policy }) =>
              `${policy?.approvals ?? 1}${policy?.exclude_authors ? ", without authors" : ""}`,
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
          can("environment:delete") || mayChangePolicy
            ? (environment) => (
                <>
                  {mayChangePolicy && (
                    <Button onClick={() => edit(environment)} small tone="quiet">
                      Approvals
                    </Button>
                  )}
                  {can("environment:delete") && (
                    <Button onClick={() => remove(environment.id, environment.key)} small tone="quiet">
                      Delete
                    </Button>
                  )}
                </>
              )
            : undefined
        }
        rowActionsWidth="180px"
      />
      {edited && (
        <FormDialog
          done="The policy was changed."
          fields={[
            {
              name: "approvals",
              label: "People who must approve a promotion",
              kind: "number",
              required: true,
              hint: "1 to 10. Whoever created the candidate never counts.",
            },
            { name: "exclude_authors", label: "Authors of its versions do not count", kind: "flag" },
          ]}
          initial={{ ...edited.promotion_policy }}
          onClose={() => edit(undefined)}
          onSubmit={async ({ approvals, exclude_authors }) => {
            await environments.update({
              environment_id: edited.id,
              promotion_policy: { approvals: Number(approvals), exclude_authors: exclude_authors === true },
              record_version: edited.record_version,
            });
            list.refresh();
          }}
          submit="Change policy"
          title={`Approvals in ${edited.key}`}
        />
      )}
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
