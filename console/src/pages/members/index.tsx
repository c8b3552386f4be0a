import {
  createMemberService,
  type InviteMemberRequest,
  type Member,
  type UpdateMemberRequest,
} from "@client/gen/member";
import { createSsoService } from "@client/gen/sso";
import { useState } from "preact/hooks";
import { useList, useQuery } from "../../core/query";
import { href, workspace } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Chips, Notice, Status } from "../../ui/text";
import { toastError } from "../../ui/toast";
import { roleHint } from "../shared/roles";

const members = createMemberService(transport);
const sso = createSsoService(transport);

/** The roles that a member has now, with where they come from unless they are the member's own; of others the roles to come. */
const accessOf = ({ status, roles: own, access }: Member): readonly string[] =>
  status === "STATUS_ACTIVE"
    ? access.map(({ role, sources }) => (sources.includes("direct") ? role : `${role} (${sources.join(", ")})`))
    : own;

const columns: readonly Column<Member>[] = [
  { title: "Name", value: ({ display_name, email, subject }) => display_name || email || subject },
  { title: "Email", value: ({ email }) => email },
  {
    title: "Roles",
    width: "220px",
    value: (member) => accessOf(member).join(", "),
    render: (member) => <Chips of={accessOf(member)} />,
  },
  { title: "Status", width: "90px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  {
    title: "Expires",
    width: "90px",
    value: ({ expires_at }) => expires_at,
    render: ({ expires_at }) => <Ago time={expires_at} />,
  },
  {
    title: "Since",
    width: "104px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
];

/** Members: who may do what. */
export default function Members() {
  const [edited, edit] = useState<Member | "new">();
  const list = useList("members", (page) => members.list(page), { live: ["member."] });
  const setStatus = (member: Member, status: Member["status"]) =>
    members
      .update({ member_id: member.id, status, record_version: member.record_version })
      .then(list.refresh, toastError);
  const remove = (member: Member) =>
    confirm({
      title: `Remove ${member.display_name || member.email}?`,
      consequence: "The person loses access at once, on every node within a second, and all browser sessions end.",
      confirm: "Remove member",
      done: "The member was removed.",
      act: () => members.remove({ member_id: member.id }).then(list.refresh),
    });
  return (
    <Page
      actions={
        can("member:write") && (
          <Button icon="plus" onClick={() => edit("new")} tone="primary">
            Invite
          </Button>
        )
      }
      question="Who may do what here?"
      title="Members"
    >
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/v2/members",
              body: { email: "ada@example.org", roles: ["operator"] },
              cli: "member invite --email ada@example.org --roles operator",
              sdk: `members.invite({ email: "ada@example.org", roles: ["operator"] })`,
            })}
            title="No member"
          >
            Invite people by their email address. They sign in with the identity provider of the workspace, so connect
            one first.
          </Empty>
        }
        keyOf={({ id }) => id}
        label="Members"
        list={list}
        rowActions={
          can("member:write")
            ? (member) => (
                <>
                  <Button onClick={() => edit(member)} small tone="quiet">
                    Roles
                  </Button>
                  <Button
                    onClick={() =>
                      setStatus(member, member.status === "STATUS_SUSPENDED" ? "STATUS_ACTIVE" : "STATUS_SUSPENDED")
                    }
                    small
                    tone="quiet"
                  >
                    {member.status === "STATUS_SUSPENDED" ? "Restore" : "Suspend"}
                  </Button>
                  {can("member:delete") && (
                    <Button onClick={() => remove(member)} small tone="quiet">
                      Remove
                    </Button>
                  )}
                </>
              )
            : undefined
        }
        rowActionsWidth="220px"
      />
      {edited === "new" && (
        <FormDialog
          done="The person was invited."
          fields={[
            { name: "email", label: "Email", required: true },
            { name: "display_name", label: "Name" },
            { name: "roles", label: "Roles", kind: "list", required: true, hint: roleHint },
            { name: "expires_at", label: "Access ends", kind: "time" },
          ]}
          initial={{ roles: ["viewer"] }}
          onClose={() => edit(undefined)}
          onSubmit={async (values) => {
            await members.invite(values as unknown as InviteMemberRequest);
            list.refresh();
          }}
          submit="Invite"
          title="Invite a person"
        >
          {() => <HowToSignIn />}
        </FormDialog>
      )}
      {edited !== undefined && edited !== "new" && (
        <FormDialog
          done="The roles were changed."
          fields={[
            { name: "display_name", label: "Name" },
            { name: "role_set.roles", label: "Roles", kind: "list", required: true, hint: roleHint },
          ]}
          initial={{ ...edited, role_set: { roles: edited.roles } }}
          onClose={() => edit(undefined)}
          onSubmit={async (values) => {
            const change = { ...values, member_id: edited.id, record_version: edited.record_version };
            await members.update(change as UpdateMemberRequest);
            list.refresh();
          }}
          submit="Save roles"
          title={`Roles of ${edited.display_name || edited.email}`}
        />
      )}
    </Page>
  );
}

/** What the person has to do after the invitation, or what is needed before it. */
function HowToSignIn() {
  const providers = useQuery(can("sso:read") ? "sso providers" : undefined, () => sso.listConnections({}).page());
  const all = providers.data?.items;
  const names = all?.filter(({ status }) => status === "active").map(({ name }) => name) ?? [];
  if (all !== undefined && names.length === 0) {
    return (
      <Notice tone="warn">
        Nobody who is invited can sign in yet: no identity provider is connected.{" "}
        <a class="link" href={href("sso")}>
          Connect one
        </a>{" "}
        first, or give the person an{" "}
        <a class="link" href={href("keys")}>
          API key
        </a>{" "}
        with these roles instead: <code>service login-link</code> signs its holder in.
      </Notice>
    );
  }
  return (
    <p class="soft">
      No mail is sent. Tell the person to sign in at {location.origin}/console with the workspace {workspace.value}
      {names.length > 0 && ` and ${names.join(" or ")}`}. The email address there must be the same.
    </p>
  );
}
