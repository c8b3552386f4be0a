import { type CreateSsoConnectionRequest, createSsoService, type SsoConnection } from "@client/gen/sso";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { setQuery, withQuery, workspace } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { confirm, Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { type Field, FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { currentTab, filterOf, ListTable, Page, Tabs } from "../../ui/page";
import { Chips, Code, Facts, Status } from "../../ui/text";
import { announce } from "../../ui/toast";
import { Groups } from "./groups";

const sso = createSsoService(transport);
const tabs = { connections: "Connections", groups: "Groups", scim: "Provisioning" };

/** Single sign-on: how people come in, and which roles their groups have. */
export default function Sso() {
  return (
    <Page question="How do people come in, and which roles do their groups have?" title="Single sign-on">
      <Tabs label="Parts of single sign-on" tabs={tabs} />
      <Part />
    </Page>
  );
}

function Part() {
  switch (currentTab(tabs)) {
    case "connections":
      return <Connections />;
    case "groups":
      return <Groups />;
    case "scim":
      return <Provisioning />;
  }
}

const oidcFields: readonly Field[] = [
  { name: "name", label: "Name", required: true, placeholder: "Okta" },
  { name: "oidc.issuer", label: "Issuer", required: true, placeholder: "https://acme.okta.com" },
  { name: "oidc.client_id", label: "Client id", required: true, row: "client" },
  { name: "oidc.client_secret", label: "Client secret", kind: "password", required: true, row: "client" },
  { name: "just_in_time", label: "People become members when they sign in", kind: "flag" },
  { name: "default_roles", label: "Roles of new members", kind: "list" },
  { name: "email_domains", label: "Email domains", kind: "list", hint: "Only these may sign in; all when empty." },
];

function Connections() {
  const [isAdding, add] = useState(false);
  const list = useList("sso", (page) => sso.listConnections(page), { live: ["sso_connection."] });
  const opened = list.rows.find(({ id }) => id === filterOf("open"));
  return (
    <>
      <div class="filters">
        <span class="spacer" />
        {can("sso:write") && (
          <Button icon="plus" onClick={() => add(true)}>
            Connect a provider
          </Button>
        )}
      </div>
      <ListTable
        columns={[
          { title: "Connection", value: ({ name }) => name },
          { title: "Kind", width: "100px", value: ({ kind }) => words(kind) },
          {
            title: "Status",
            width: "110px",
            value: ({ status }) => status,
            render: ({ status }) => <Status of={status} />,
          },
          { title: "Domains", value: ({ email_domains }) => email_domains.join(", ") || "all" },
          {
            title: "New members",
            width: "140px",
            value: ({ just_in_time }) => (just_in_time ? "created" : "only invited"),
          },
        ]}
        empty={
          <Empty
            samples={{
              curl: `curl -sS -X POST '$ORIGIN/api/v2/identity/connections' \\\n  -H "X-API-Key: $SWITCHYARD_KEY" -H 'Content-Type: application/json' \\\n  -d '{"name": "Okta", "oidc": {"issuer": "https://acme.okta.com", "client_id": "…", "client_secret": "…"}}'`,
              cli: `service sso-connection create --name Okta --oidc '{"issuer": "https://acme.okta.com", "client_id": "…", "client_secret": "…"}'`,
              sdk: `await client.sso.createConnection({ name: "Okta", oidc: { issuer: "https://acme.okta.com", client_id: "…", client_secret: "…" } });`,
            }}
            title="No identity provider"
          >
            Connect Entra ID, Okta or any other provider with OpenID Connect or SAML. Until then, people sign in with
            links.
          </Empty>
        }
        hrefOf={({ id }) => withQuery({ open: id })}
        keyOf={({ id }) => id}
        label="Identity providers"
        list={list}
      />
      {opened !== undefined && (
        <ConnectionDrawer connection={opened} onClose={() => setQuery({ open: undefined })} refresh={list.refresh} />
      )}
      {isAdding && (
        <FormDialog
          done="The provider is connected. Register its callback address now."
          fields={oidcFields}
          onClose={() => add(false)}
          onSubmit={async (values) => {
            const { id } = await sso.createConnection(values as unknown as CreateSsoConnectionRequest);
            list.refresh();
            setQuery({ open: id });
          }}
          submit="Connect"
          title="Connect a provider with OpenID Connect"
        />
      )}
    </>
  );
}

interface DrawerProps {
  readonly connection: SsoConnection;
  readonly refresh: () => void;
  readonly onClose: () => void;
}

function ConnectionDrawer({ connection, refresh, onClose }: DrawerProps) {
  const remove = () =>
    confirm({
      title: `Disconnect ${connection.name}?`,
      consequence: "Nobody can sign in with it any more, and everybody who did is signed out at once.",
      confirm: "Disconnect",
      typed: connection.name,
      done: "The provider is disconnected.",
      act: () =>
        sso.deleteConnection({ id: connection.id }).then(() => {
          refresh();
          onClose();
        }),
    });
  return (
    <Dialog
      actions={
        can("sso:delete") && (
          <Button onClick={remove} small tone="danger-text">
            Disconnect
          </Button>
        )
      }
      kind="drawer"
      onClose={onClose}
      title={connection.name}
    >
      <div class="dialog-body">
        <Facts
          of={{
            Status: <Status of={connection.status} />,
            Kind: words(connection.kind),
            Issuer: connection.oidc?.issuer ?? connection.saml?.idp_entity_id,
            "Default roles": <Chips of={connection.default_roles} />,
          }}
        />
        <h3>Callback address</h3>
        <p class="soft">Register it at the provider, as the redirect address or the ACS address.</p>
        <Code text={connection.callback_url} />
        {connection.domains.length > 0 && <Domains connection={connection} refresh={refresh} />}
        <h3>People start at</h3>
        <p class="soft">
          Members sign in here, or at {location.origin}/console with the name of the workspace: {workspace.value}.
        </p>
        <Code text={connection.sign_in_url} />
        {connection.metadata_url !== "" && (
          <>
            <h3>Metadata</h3>
            <Code text={connection.metadata_url} />
          </>
        )}
      </div>
    </Dialog>
  );
}

/** The email domains with the records that prove them, and whether single sign-on is required. */
function Domains({ connection: { id, domains, enforced }, refresh }: Omit<DrawerProps, "onClose">) {
  const isVerified = domains.some(({ verified }) => verified);
  const verify = () => announce(sso.verifyDomains({ id }), "The records were looked up.", refresh);
  const enforce = (wanted: boolean) =>
    confirm({
      title: wanted ? "Require this provider?" : "Allow other ways to sign in?",
      consequence: wanted
        ? "Members of the verified domains can sign in only with it. Their other sessions end. An admin can still use a login link."
        : "Members of the verified domains can sign in with other providers and with links again.",
      confirm: wanted ? "Require" : "Allow",
      done: wanted ? "The provider is required." : "Other ways are allowed.",
      act: () => sso.updateConnection({ id, enforced: wanted }).then(refresh),
    });
  return (
    <>
      <h3>Domains</h3>
      <p class="soft">
        {enforced ? "Members of verified domains must use this provider." : "Set these TXT records, then verify them."}
      </p>
      {domains.map(({ domain, verified, record_name, record_value }) => (
        <div class="stack" key={domain}>
          <Facts of={{ [domain]: <Status of={verified ? "verified" : "pending"} /> }} />
          {!verified && <Code text={`${record_name} TXT "${record_value}"`} />}
        </div>
      ))}
      {can("sso:write") && (
        <div class="filters">
          <Button onClick={verify} small>
            Verify
          </Button>
          {isVerified && (
            <Button onClick={() => enforce(!enforced)} small tone="quiet">
              {enforced ? "Stop requiring" : "Require single sign-on"}
            </Button>
          )}
        </div>
      )}
    </>
  );
}

function Provisioning() {
  return (
    <Card title="SCIM">
      <div class="stack">
        <p class="soft">
          A directory such as Entra ID or Okta provisions people at this address. Create an API key with the scope
          scim:write, and give both to the directory. Somebody who is deactivated there loses access within a second.
        </p>
        <Code text={`${location.origin}/scim/v2`} />
        <a class="link" href={`${location.origin}/docs`}>
          Reference
        </a>
      </div>
    </Card>
  );
}
