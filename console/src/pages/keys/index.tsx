import { type ApiKey, type CreateApiKeyRequest, createApiKeyService } from "@client/gen/api-key";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Chips, Status } from "../../ui/text";
import { roleHint } from "../shared/roles";
import { SecretDialog } from "../shared/secret-dialog";

const keys = createApiKeyService(transport);

const columns: readonly Column<ApiKey>[] = [
  { title: "Name", value: ({ name }) => name },
  { title: "Key", width: "190px", value: ({ prefix }) => prefix, render: ({ prefix }) => <code>{prefix}…</code> },
  {
    title: "Access",
    value: ({ roles: own, scopes }) => [...own, ...scopes].join(", "),
    render: ({ roles: own, scopes }) => <Chips of={[...own, ...scopes]} />,
  },
  { title: "Status", width: "110px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  {
    title: "Last used",
    width: "120px",
    value: ({ last_used_at }) => last_used_at,
    render: ({ last_used_at }) => <Ago time={last_used_at} />,
  },
  {
    title: "Expires",
    width: "120px",
    value: ({ expires_at }) => expires_at,
    render: ({ expires_at }) => <Ago time={expires_at} />,
  },
];

/** API keys: which programs have access. */
export default function Keys() {
  const [isCreating, create] = useAddressedDialog("new", can("api_key:write"));
  const [secret, setSecret] = useState<string>();
  const status = filterOf("status") as ApiKey["status"] | undefined;
  const list = useList(`keys ${status}`, (page) => keys.list({ ...page, status }), { live: ["api_key."] });
  const revoke = (key: ApiKey) =>
    confirm({
      title: `Revoke ${key.name}?`,
      consequence:
        "Calls with this key are refused at once, on every node within a second. A revoked key cannot be restored.",
      confirm: "Revoke key",
      typed: key.name,
      done: "The key was revoked.",
      act: () => keys.revoke({ api_key_id: key.id }).then(list.refresh),
    });
  return (
    <Page
      actions={
        can("api_key:write") && (
          <Button icon="plus" onClick={() => create(true)} tone="primary">
            New key
          </Button>
        )
      }
      question="Which programs have access, and to what?"
      title="API keys"
    >
      <div class="filters">
        <ChoiceFilter
          choices={["ACTIVE", "REVOKED", "EXPIRED"].map((each) => [`STATUS_${each}`, words(each)])}
          label="Status"
          name="status"
        />
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/v2/api-keys",
              body: { name: "shop backend", roles: ["service"] },
              cli: `api-key create --name "shop backend" --roles service`,
              sdk: `apiKeys.create({ name: "shop backend", roles: ["service"] })`,
            })}
            title="No key"
          >
            A key gives a program the access of its roles and scopes, never more than its creator has.
          </Empty>
        }
        keyOf={({ id }) => id}
        label="API keys"
        list={list}
        rowActions={
          can("api_key:write")
            ? (key) =>
                key.status === "STATUS_ACTIVE" && (
                  <Button onClick={() => revoke(key)} small tone="quiet">
                    Revoke
                  </Button>
                )
            : undefined
        }
        rowActionsWidth="100px"
      />
      {isCreating && (
        <FormDialog
          fields={[
            { name: "name", label: "Name", required: true },
            {
              name: "roles",
              label: "Roles",
              kind: "list",
              hint: roleHint,
            },
            { name: "scopes", label: "Scopes", kind: "list", hint: "For example: route:write, work:write." },
            { name: "expires_at", label: "Expires", kind: "time" },
            {
              ...{ name: "max_rps", label: "Rate limit", kind: "number" },
              hint: "Tokens per second, besides the limit of the tenant. Most calls cost one.",
            },
          ]}
          initial={{ roles: ["service"] }}
          onClose={() => create(false)}
          onSubmit={async (values) => {
            const key = await keys.create(values as unknown as CreateApiKeyRequest);
            setSecret(key.secret);
            list.refresh();
          }}
          submit="Create key"
          title="New API key"
        />
      )}
      {secret !== undefined && (
        <SecretDialog onClose={() => setSecret(undefined)} secret={secret} title="The new key">
          Store it now. No later call returns it.
        </SecretDialog>
      )}
    </Page>
  );
}
