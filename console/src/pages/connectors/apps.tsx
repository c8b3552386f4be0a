import { createConnectorCatalogService } from "@client/gen/connector-catalog";
import {
  type CreateProviderConfigRequest,
  createProviderConfigService,
  type ProviderConfig,
} from "@client/gen/provider-config";
import { useState } from "preact/hooks";
import { environmentFilter } from "../../core/environments";
import { useList, useQuery } from "../../core/query";
import { setQuery, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm, Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Chips, Code, Facts, Notice, Status } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";
import { environmentFields, initialEnvironment, withEnvironment } from "../shared/environment";

const configs = createProviderConfigService(transport);
const catalog = createConnectorCatalogService(transport);
const statuses = ["draft", "active", "disabled", "archived"];

const columns: readonly Column<ProviderConfig>[] = [
  { title: "App", value: ({ name }) => name },
  { title: "Provider", width: "150px", value: ({ provider_key }) => provider_key },
  { title: "Client id", value: ({ client_id }) => client_id },
  { title: "Status", width: "110px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  {
    title: "Activated",
    width: "130px",
    value: ({ activated_at }) => activated_at,
    render: ({ activated_at }) => <Ago time={activated_at} />,
  },
];

/** The tenant's own OAuth apps. People connect accounts through an active one. */
export function Apps() {
  const [isAdding, add] = useState(false);
  const filters = { status: filterOf("status"), provider_key: filterOf("provider"), ...environmentFilter() };
  const list = useList(
    `apps ${JSON.stringify(filters)}`,
    (page) => configs.list({ ...page, ...filters } as Parameters<typeof configs.list>[0]),
    { live: ["provider_config."] },
  );
  const opened = filterOf("open");
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={statuses.map((each) => [each, words(each)])} label="Status" name="status" />
        <TextFilter label="Provider" name="provider" />
        <span class="spacer" />
        {can("provider_config:write") && (
          <Button icon="plus" onClick={() => add(true)} tone="primary">
            New app
          </Button>
        )}
      </div>
      <ListTable
        columns={withEnvironment(columns)}
        empty={
          <Empty
            samples={{
              curl: `curl -sS -X POST '$ORIGIN/api/v2/connector/provider-configs' \\\n  -H "X-API-Key: $SWITCHYARD_KEY" -H 'Content-Type: application/json' \\\n  -d '{"provider_key": "github", "name": "Our app", "client_id": "…", "secrets": {"client_secret": "…"}}'`,
              cli: `service provider-config create --provider-key github --name 'Our app' --client-id … --secrets '{"client_secret": "…"}'`,
              sdk: `await client.providerConfigs.create({ provider_key: "github", name: "Our app", client_id: "…", secrets: { client_secret: "…" } });`,
            }}
            title="No OAuth app"
          >
            Providers with OAuth need an app of yours. Register one there, then add its client id and secret here.
          </Empty>
        }
        hrefOf={({ id }) => withQuery({ open: id })}
        keyOf={({ id }) => id}
        label="OAuth apps"
        list={list}
      />
      {opened !== undefined && <AppDrawer id={opened} onClose={() => setQuery({ open: undefined })} />}
      {isAdding && (
        <NewApp
          onClose={() => add(false)}
          onCreated={(id) => setQuery({ open: id })}
          providerKey={filters.provider_key}
        />
      )}
    </>
  );
}

interface NewAppProps {
  readonly providerKey: string | undefined;
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
}

function NewApp({ providerKey, onClose, onCreated }: NewAppProps) {
  const providers = useQuery("providers with OAuth", () =>
    catalog.listProviders({ auth_mode: "oauth2", limit: 200 }).page(),
  );
  if (providers.data === undefined) return null;
  return (
    <FormDialog
      done="The app was added. Register its redirect address at the provider, then activate it."
      fields={[
        {
          name: "provider_key",
          label: "Provider",
          kind: "choice",
          choices: providers.data.items.map(({ key, name }) => ({ value: key, label: name })),
          required: true,
        },
        { name: "name", label: "Name", required: true, placeholder: "Our app" },
        ...environmentFields(),
        { name: "client_id", label: "Client id", required: true, row: "client" },
        { name: "secrets.client_secret", label: "Client secret", kind: "password", row: "client" },
        { name: "scopes", label: "More scopes", kind: "list", hint: "Besides those that the provider needs." },
      ]}
      initial={{ provider_key: providerKey, ...initialEnvironment() }}
      onClose={onClose}
      onSubmit={async (values) =>
        onCreated((await configs.create(values as unknown as CreateProviderConfigRequest)).id)
      }
      submit="Add app"
      title="New OAuth app"
    />
  );
}

function AppDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [isReplacing, replace] = useState(false);
  const { data: app, refresh } = useQuery(`app ${id}`, () => configs.get({ id }), { live: ["provider_config."] });
  const activate = () =>
    configs.activate({ id }).then(() => {
      toast("The app is active: accounts can be connected.");
      refresh();
    }, toastError);
  const disable = () =>
    confirm({
      title: `Disable ${app?.name}?`,
      consequence: "No further account can be connected with it. Its connections still work.",
      confirm: "Disable app",
      done: "The app is disabled.",
      act: () => configs.disable({ id }).then(refresh),
    });
  const archive = () =>
    confirm({
      title: `Archive ${app?.name}?`,
      consequence: "Its secrets are deleted, and it can never be used again.",
      confirm: "Archive app",
      done: "The app is archived.",
      act: () => configs.archive({ id }).then(refresh),
    });
  const isOpen = app !== undefined && app.status !== "archived" && can("provider_config:write");
  return (
    <Dialog
      actions={
        isOpen && (
          <>
            <Button onClick={() => replace(true)} small>
              Replace secret
            </Button>
            {app.status === "active" ? (
              <Button onClick={disable} small>
                Disable
              </Button>
            ) : (
              <>
                <Button onClick={archive} small tone="danger-text">
                  Archive
                </Button>
                <Button onClick={activate} small tone="primary">
                  Activate
                </Button>
              </>
            )}
          </>
        )
      }
      kind="drawer"
      onClose={onClose}
      title={app?.name ?? "OAuth app"}
    >
      <div class="dialog-body">
        {app !== undefined && (
          <>
            {app.status === "draft" && (
              <Notice tone="info">
                Register the redirect address in your app at the provider, then activate it here.
              </Notice>
            )}
            <Facts
              of={{
                Provider: app.provider_key,
                Status: <Status of={app.status} />,
                "Client id": app.client_id,
                Secrets: <Chips none="none" of={app.secret_names} />,
                "More scopes": <Chips none="none" of={app.scopes} />,
              }}
            />
            <h3>Redirect address</h3>
            <Code text={app.redirect_uri} />
          </>
        )}
      </div>
      {isReplacing && (
        <FormDialog
          done="The secret was replaced."
          fields={[{ name: "secrets.client_secret", label: "Client secret", kind: "password", required: true }]}
          onClose={() => replace(false)}
          onSubmit={async (values) => {
            await configs.update({ id, ...values });
            refresh();
          }}
          submit="Replace secret"
          title={`Replace the secret of ${app?.name}`}
        />
      )}
    </Dialog>
  );
}
