import { createSsoService, type SetGroupRolesRequest } from "@client/gen/sso";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { ListTable } from "../../ui/page";
import { Chips } from "../../ui/text";
import { roleHint } from "../shared/roles";

const sso = createSsoService(transport);

/** The roles that groups of the identity provider give. */
export function Groups() {
  const [isAdding, add] = useState(false);
  const list = useList("group roles", (page) => sso.listGroupRoles(page), { live: ["group_roles."] });
  const remove = (id: string, group: string) =>
    confirm({
      title: `Remove the roles of ${group}?`,
      consequence: "Members of the group lose these roles, unless they have them otherwise.",
      confirm: "Remove roles",
      done: "The roles were removed.",
      act: () => sso.deleteGroupRoles({ id }).then(list.refresh),
    });
  return (
    <>
      <div class="filters">
        <span class="spacer" />
        {can("sso:write") && (
          <Button icon="plus" onClick={() => add(true)}>
            Give roles to a group
          </Button>
        )}
      </div>
      <ListTable
        columns={[
          { title: "Group", value: ({ group }) => group },
          { title: "Roles", value: ({ roles }) => roles.join(", "), render: ({ roles }) => <Chips of={roles} /> },
        ]}
        empty={
          <Empty title="No group has roles">
            Groups come from the identity provider or from SCIM. Give them roles here.
          </Empty>
        }
        keyOf={({ id }) => id}
        label="Roles of groups"
        list={list}
        rowActions={
          can("sso:delete")
            ? ({ id, group }) => (
                <Button onClick={() => remove(id, group)} small tone="quiet">
                  Remove
                </Button>
              )
            : undefined
        }
      />
      {isAdding && (
        <FormDialog
          done="The group has these roles."
          fields={[
            { name: "group", label: "Group", required: true },
            { name: "roles", label: "Roles", kind: "list", required: true, hint: roleHint },
          ]}
          onClose={() => add(false)}
          onSubmit={async (values) => {
            await sso.setGroupRoles(values as unknown as SetGroupRolesRequest);
            list.refresh();
          }}
          submit="Give roles"
          title="Give roles to a group"
        />
      )}
    </>
  );
}
