import { type CreateSecretRequest, createSecretService, type Secret } from "@client/gen/secret";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Id } from "../../ui/text";

const secrets = createSecretService(transport);

const columns: readonly Column<Secret>[] = [
  { title: "Name", value: ({ name }) => name },
  { title: "Version", width: "100px", isNumber: true, value: ({ version }) => version },
  {
    title: "Sealed with",
    width: "170px",
    value: ({ encryption_key_id }) => encryption_key_id,
    render: ({ encryption_key_id }) => <Id id={encryption_key_id} />,
  },
  {
    title: "Changed",
    width: "130px",
    value: ({ updated_at }) => updated_at,
    render: ({ updated_at }) => <Ago time={updated_at} />,
  },
];

/** Secrets: sealed values that recipients and connectors refer to. Values are never shown here. */
export default function Secrets() {
  const [edited, edit] = useState<Secret | "new">();
  const list = useList("secrets", (page) => secrets.list(page), { live: ["secret."] });
  const remove = (secret: Secret) =>
    confirm({
      title: `Delete ${secret.name}?`,
      consequence: "Whatever refers to it fails from now on. The value cannot be brought back.",
      confirm: "Delete secret",
      typed: secret.name,
      done: "The secret was deleted.",
      act: () => secrets.delete({ secret_id: secret.id }).then(list.refresh),
    });
  return (
    <Page
      actions={
        can("secret:write") && (
          <Button icon="plus" onClick={() => edit("new")} tone="primary">
            New secret
          </Button>
        )
      }
      question="Which sealed values exist, and how old are they?"
      title="Secrets"
    >
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/v2/secrets",
              body: { name: "shop-webhook", value: "…" },
              cli: "secret create --name shop-webhook --value …",
              sdk: `secrets.create({ name: "shop-webhook", value: process.env.SECRET })`,
            })}
            title="No secret"
          >
            A secret is sealed with the master key of the service. The console never shows a value.
          </Empty>
        }
        keyOf={({ id }) => id}
        label="Secrets"
        list={list}
        rowActions={
          can("secret:write")
            ? (secret) => (
                <>
                  <Button onClick={() => edit(secret)} small tone="quiet">
                    Replace
                  </Button>
                  {can("secret:delete") && (
                    <Button onClick={() => remove(secret)} small tone="quiet">
                      Delete
                    </Button>
                  )}
                </>
              )
            : undefined
        }
        rowActionsWidth="160px"
      />
      {edited !== undefined && (
        <FormDialog
          done={edited === "new" ? "The secret was created." : "The secret has a new version."}
          fields={[
            ...(edited === "new" ? [{ name: "name", label: "Name", required: true }] : []),
            { name: "value", label: "Value", kind: "password" as const, required: true },
          ]}
          onClose={() => edit(undefined)}
          onSubmit={async (values) => {
            if (edited === "new") await secrets.create(values as unknown as CreateSecretRequest);
            else
              await secrets.update({
                secret_id: edited.id,
                value: String(values.value),
                record_version: edited.record_version,
              });
            list.refresh();
          }}
          submit={edited === "new" ? "Create secret" : "Replace value"}
          title={edited === "new" ? "New secret" : `Replace the value of ${edited.name}`}
        />
      )}
    </Page>
  );
}
