import { type ConnectorProvider, createConnectorCatalogService } from "@client/gen/connector-catalog";
import { useList, useQuery } from "../../core/query";
import { setQuery, withQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, Ready, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Chips, Facts, Notice, Status } from "../../ui/text";
import { ConnectButton } from "./connect";

const catalog = createConnectorCatalogService(transport);
const modes = ["oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"];

const columns: readonly Column<ConnectorProvider>[] = [
  { title: "Provider", value: ({ name }) => name },
  { title: "Category", width: "150px", value: ({ category }) => words(category) },
  {
    title: "Sign-in",
    value: ({ auth }) => auth.map(({ mode }) => mode).join(", "),
    render: ({ auth }) => <Chips of={auth.map(({ mode }) => mode)} />,
  },
  { title: "Actions", width: "90px", isNumber: true, value: ({ action_count }) => action_count },
  { title: "Triggers", width: "90px", isNumber: true, value: ({ trigger_count }) => trigger_count },
  {
    title: "State",
    width: "140px",
    value: ({ runtime_status }) => runtime_status,
    render: ({ runtime_status }) => <Status of={runtime_status} />,
  },
];

/** The catalogue of systems that can be connected. */
export function Providers() {
  const filters = { query: filterOf("q"), auth_mode: filterOf("mode") };
  const list = useList(
    `providers ${JSON.stringify(filters)}`,
    (page) => catalog.listProviders({ ...page, ...filters } as Parameters<typeof catalog.listProviders>[0]),
    { live: ["connector."] },
  );
  const opened = filterOf("open");
  return (
    <>
      <div class="filters">
        <TextFilter label="Search the catalogue" name="q" />
        <ChoiceFilter choices={modes} label="Sign-in" name="mode" />
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty title="No provider matches">Change the search, or add a provider of your own with a manifest.</Empty>
        }
        hrefOf={({ key }) => withQuery({ open: key })}
        keyOf={({ key }) => key}
        label="Providers"
        list={list}
      />
      {opened !== undefined && <ProviderDrawer onClose={() => setQuery({ open: undefined })} providerKey={opened} />}
    </>
  );
}

function ProviderDrawer({ providerKey, onClose }: { readonly providerKey: string; readonly onClose: () => void }) {
  const provider = useQuery(`provider ${providerKey}`, () => catalog.getProvider({ key: providerKey }));
  const actions = useQuery(`actions of ${providerKey}`, () =>
    catalog.listActions({ provider_key: providerKey, limit: 200 }).page(),
  );
  return (
    <Dialog
      actions={
        provider.data &&
        (provider.data.runtime_status === "unconfigured" ? (
          <a class="button small primary" href={withQuery({ tab: "apps", provider: providerKey, open: undefined })}>
            Add your OAuth app
          </a>
        ) : (
          <ConnectButton provider={provider.data} />
        ))
      }
      kind="drawer"
      onClose={onClose}
      title={provider.data?.name ?? "Provider"}
    >
      <div class="dialog-body">
        <Ready query={provider}>
          {(data) => (
            <>
              <p class="soft">{data.description}</p>
              {data.runtime_reason !== "" && <Notice tone="warn">{data.runtime_reason}</Notice>}
              <Facts
                of={{
                  Key: <code>{data.key}</code>,
                  Version: data.version,
                  Hosts: <Chips of={data.hosts} />,
                  "Sign-in": <Chips of={data.auth.map(({ mode }) => mode)} />,
                  Source: words(data.source),
                }}
              />
              <h3>Actions</h3>
              <ul class="stack">
                {(actions.data?.items ?? []).map(({ key, title, description, mutation }) => (
                  <li key={key}>
                    <strong>{title}</strong> {mutation?.destructive && <Status of="destructive" tone="bad" />}
                    <div class="soft">{description}</div>
                    <code class="faint">{key}</code>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Ready>
      </div>
    </Dialog>
  );
}
