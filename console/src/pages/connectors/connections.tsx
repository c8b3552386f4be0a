import { type Connection, createConnectionService } from "@client/gen/connection";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";
import { withEnvironment } from "../shared/environment";

const connections = createConnectionService(transport);
const statuses = ["active", "needs_account", "needs_reauth", "revoked"];

/** The status. Credentials that somebody typed are only known to work once a test has shown it. */
function statusOf({ status, auth_mode, last_test_class }: Connection): string {
  const isTyped = auth_mode !== "none" && !auth_mode.startsWith("oauth2");
  return status === "active" && isTyped && ["", "unverified"].includes(last_test_class) ? "not_checked" : status;
}

const columns: readonly Column<Connection>[] = [
  { title: "Connection", value: ({ name, account }) => name || account?.label || "unnamed" },
  { title: "Provider", width: "110px", value: ({ provider_key }) => provider_key },
  { title: "Account", width: "120px", value: ({ account }) => account?.label },
  {
    title: "Status",
    width: "130px",
    value: statusOf,
    render: (connection) => <Status of={statusOf(connection)} />,
  },
  { title: "Last test", width: "110px", value: ({ last_test_class }) => words(last_test_class) },
  {
    title: "Expires",
    width: "100px",
    value: ({ expires_at }) => expires_at,
    render: ({ expires_at }) => <Ago time={expires_at} />,
  },
];

/** The accounts that are connected. */
export function Connections() {
  const [choosing, choose] = useState<Connection>();
  const filters = {
    status: filterOf("status"),
    provider_key: filterOf("provider"),
    environment_id: filterOf("environment"),
  };
  const list = useList(
    `connections ${JSON.stringify(filters)}`,
    (page) => connections.list({ ...page, ...filters } as Parameters<typeof connections.list>[0]),
    { live: ["connection."] },
  );
  const test = (connection: Connection) =>
    connections.test({ id: connection.id }).then(({ ok, message }) => {
      toast(ok ? "The connection works." : message, ok ? "ok" : "bad");
      list.refresh();
    }, toastError);
  const revoke = (connection: Connection) =>
    confirm({
      title: `Revoke ${connection.name || connection.provider_key}?`,
      consequence:
        "Its credentials are deleted here and, where possible, at the provider. Actions and workflows that use it fail.",
      confirm: "Revoke connection",
      done: "The connection was revoked.",
      act: () => connections.revoke({ id: connection.id }).then(list.refresh),
    });
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={statuses.map((each) => [each, words(each)])} label="Status" name="status" />
        <TextFilter label="Provider" name="provider" />
      </div>
      <ListTable
        columns={withEnvironment(columns)}
        empty={
          <Empty
            samples={{
              curl: `curl -sS -X POST '$ORIGIN/api/v2/connector/connect-sessions' \\\n  -H "X-API-Key: $SWITCHYARD_KEY" -H 'Content-Type: application/json' \\\n  -d '{"allowed_provider_keys": ["github"], "end_user": {"id": "ada"}}'`,
              cli: `service connect-session create --allowed-provider-keys github --end-user '{"id": "ada"}'`,
              sdk: `await client.connectSessions.create({ allowed_provider_keys: ["github"], end_user: { id: "ada" } });`,
            }}
            title="No connection"
          >
            Open a provider in the catalogue and connect an account. Credentials are sealed, and nobody can read them
            again.
          </Empty>
        }
        keyOf={({ id }) => id}
        label="Connections"
        list={list}
        rowActions={
          can("connection:write")
            ? (connection) =>
                connection.status !== "revoked" && (
                  <>
                    {connection.account_choices.length > 0 && (
                      <Button onClick={() => choose(connection)} small tone="primary">
                        Choose account
                      </Button>
                    )}
                    <Button onClick={() => test(connection)} small tone="quiet">
                      Test
                    </Button>
                    <Button onClick={() => revoke(connection)} small tone="quiet">
                      Revoke
                    </Button>
                  </>
                )
            : undefined
        }
        rowActionsWidth={list.rows.some(({ account_choices }) => account_choices.length > 0) ? "270px" : "150px"}
      />
      {choosing !== undefined && (
        <FormDialog
          done="The account was chosen."
          fields={[
            {
              ...{ name: "account_id", label: "Account", kind: "choice", required: true },
              hint: "The connection acts for this account from now on.",
              choices: choosing.account_choices.map(({ id, label }) => ({ value: id, label: label || id })),
            },
          ]}
          onClose={() => choose(undefined)}
          onSubmit={async (values) => {
            await connections.update({ id: choosing.id, account_id: String(values.account_id) });
            list.refresh();
          }}
          submit="Choose account"
          title={`Choose the account of ${choosing.name}`}
        />
      )}
    </>
  );
}
