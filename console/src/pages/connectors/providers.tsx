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
const signIns: Readonly<Record<string, string>> = {
  oauth2: "OAuth",
  oauth2_cc: "OAuth for machines",
  api_key: "API key",
  basic: "Name and password",
  two_step: "Two steps",
  jwt: "JWT",
  signed_jwt: "Signed JWT",
  aws_sigv4: "AWS signature",
  none: "None",
};
const signInsOf = ({ auth }: ConnectorProvider) => auth.map(({ mode }) => signIns[mode] ?? mode);
/** What a person has to do before an account can be connected. */
const stateOf = ({ runtime_status }: ConnectorProvider) =>
  ({ executable: "Ready to connect", unconfigured: "Needs your OAuth app" })[runtime_status] ?? words(runtime_status);

const columns: readonly Column<ConnectorProvider>[] = [
  { title: "Provider", value: ({ name }) => name },
  { title: "Category", width: "150px", value: ({ category }) => words(category) },
  {
    title: "Sign-in",
    value: (provider) => signInsOf(provider).join(", "),
    render: (provider) => <Chips of={signInsOf(provider)} />,
  },
  { title: "Actions", width: "90px", isNumber: true, value: ({ action_count }) => action_count },
  { title: "Triggers", width: "90px", isNumber: true, value: ({ trigger_count }) => trigger_count },
  {
    title: "State",
    width: "180px",
    value: stateOf,
    render: (provider) => (
      <Status of={stateOf(provider)} tone={provider.runtime_status === "executable" ? "ok" : "warn"} />
    ),
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
        <ChoiceFilter choices={Object.entries(signIns)} label="Sign-in" name="mode" />
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
                  "Sign-in": <Chips of={signInsOf(data)} />,
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
