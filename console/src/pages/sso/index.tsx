import {
  type CreateSsoConnectionRequest,
  createSsoService,
  type SsoConnection,
  type UpdateSsoConnectionRequest,
} from "@client/gen/sso";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { setQuery, withQuery, workspace } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { confirm, Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { type Field, FormDialog, type Texts, type Values } from "../../ui/form";
import { words } from "../../ui/format";
import { currentTab, filterOf, ListTable, Page, Tabs } from "../../ui/page";
import { Ago, Chips, Code, Facts, Status } from "../../ui/text";
import { announce } from "../../ui/toast";
import { roleHint } from "../shared/roles";
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

const isKind = (kind: string) => (texts: Texts) => texts.kind === kind;
const isOidc = isKind("oidc");
const isSaml = isKind("saml");

/** The fields of a new connection, or of one that is changed. */
const fieldsOf = (connection?: SsoConnection): readonly Field[] => [
  { name: "name", label: "Name", required: true, placeholder: "Okta" },
  {
    name: "kind",
    label: "Protocol",
    kind: "choice",
    required: true,
    choices: [
      { value: "oidc", label: "OpenID Connect" },
      { value: "saml", label: "SAML" },
    ].filter(({ value }) => connection === undefined || value === connection.kind),
  },
  { name: "oidc.issuer", label: "Issuer", required: true, placeholder: "https://acme.okta.com", appliesTo: isOidc },
  { name: "oidc.client_id", label: "Client id", required: true, row: "client", appliesTo: isOidc },
  {
    name: "oidc.client_secret",
    label: "Client secret",
    kind: "password",
    required: connection === undefined,
    row: "client",
    appliesTo: isOidc,
    ...(connection && { hint: "The stored one stays when empty." }),
  },
  { name: "saml.idp_entity_id", label: "Entity id of the provider", required: true, appliesTo: isSaml },
  { name: "saml.sso_url", label: "Sign-in address of the provider", required: true, appliesTo: isSaml },
  {
    name: "saml.certificates",
    label: "Certificate of the provider",
    kind: "long",
    required: true,
    placeholder: "-----BEGIN CERTIFICATE-----",
    hint: "PEM. Two, one after the other, while the provider changes it.",
    appliesTo: isSaml,
  },
  { name: "just_in_time", label: "People become members when they sign in", kind: "flag" },
  {
    name: connection === undefined ? "default_roles" : "default_role_set.roles",
    label: "Roles of new members",
    kind: "list",
    hint: roleHint,
  },
  {
    name: connection === undefined ? "email_domains" : "email_domain_set.domains",
    label: "Email domains",
    kind: "list",
    hint: "Only these may sign in; all when empty.",
  },
];

interface FormProps {
  /** The connection to change; a new one is created without it. */
  readonly connection?: SsoConnection;
  readonly onSaved: (connection: SsoConnection) => void;
  readonly onClose: () => void;
}

function ConnectionForm({ connection, onSaved, onClose }: FormProps) {
  const { oidc, saml, default_roles: roles, email_domains: domains } = connection ?? {};
  return (
    <FormDialog
      done={
        connection === undefined
          ? "The provider is stored. Register its callback address now, then test it."
          : "The connection was changed."
      }
      fields={fieldsOf(connection)}
      initial={
        connection === undefined
          ? {}
          : {
              ...connection,
              saml: { ...saml, certificates: saml?.certificates.join("\n") },
              ...{ default_role_set: { roles }, email_domain_set: { domains } },
            }
      }
      onClose={onClose}
      onSubmit={async ({ kind, ...values }) => {
        const provider =
          kind === "saml"
            ? { saml: { ...saml, ...(values.saml as object), certificates: certificatesOf(values.saml as Values) } }
            : { oidc: { ...oidc, ...(values.oidc as object) } };
        const request = { ...values, ...provider };
        onSaved(
          connection === undefined
            ? await sso.createConnection(request as unknown as CreateSsoConnectionRequest)
            : await sso.updateConnection({
                ...request,
                id: connection.id,
                record_version: connection.record_version,
              } as UpdateSsoConnectionRequest),
        );
      }}
      submit={connection === undefined ? "Connect" : "Save changes"}
      title={connection === undefined ? "Connect a provider" : `Change ${connection.name}`}
    >
      {({ kind }) =>
        connection === undefined && (
          <p class="soft">
            The callback address to register at the provider is{" "}
            <code>
              {location.origin}
              {kind === "saml" ? "/auth/saml/<id>/acs" : "/auth/callback/<id>"}
            </code>
            . The id is that of the connection, so the whole address appears when it is stored.
          </p>
        )
      }
    </FormDialog>
  );
}

/** The certificates of a PEM text. A text without any is sent as it is, so that the service says what is wrong. */
function certificatesOf({ certificates }: Values): readonly string[] {
  const text = String(certificates);
  return text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [text];
}

/** An active connection works only when somebody has signed in with it. */
function ConnectionStatus({ of: { status, first_sign_in_at } }: { readonly of: SsoConnection }) {
  return status === "active" && first_sign_in_at === undefined ? (
    <Status of="Not tested" tone="warn" />
  ) : (
    <Status of={status} />
  );
}

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
            render: (connection) => <ConnectionStatus of={connection} />,
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
            Connect Entra ID, Okta or any other provider with OpenID Connect or SAML. Until then, invited people cannot
            sign in: only whoever has an API key can, with a link that <code>service login-link</code> creates.
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
        <ConnectionForm
          onClose={() => add(false)}
          onSaved={({ id }) => {
            list.refresh();
            setQuery({ open: id });
          }}
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
  const [isEditing, edit] = useState(false);
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
        <>
          {can("sso:write") && (
            <Button onClick={() => edit(true)} small>
              Edit
            </Button>
          )}
          {can("sso:delete") && (
            <Button onClick={remove} small tone="danger-text">
              Disconnect
            </Button>
          )}
        </>
      }
      kind="drawer"
      onClose={onClose}
      title={connection.name}
    >
      <div class="dialog-body">
        <Facts
          of={{
            Status: <ConnectionStatus of={connection} />,
            Kind: words(connection.kind),
            Issuer: connection.oidc?.issuer ?? connection.saml?.idp_entity_id,
            "Default roles": <Chips of={connection.default_roles} />,
            "First sign-in": <Ago time={connection.first_sign_in_at} />,
          }}
        />
        <h3>Callback address</h3>
        <p class="soft">Register it at the provider, as the redirect address or the ACS address.</p>
        <Code text={connection.callback_url} />
        {connection.domains.length > 0 && <Domains connection={connection} refresh={refresh} />}
        <h3>People start at</h3>
        <p class="soft">
          Members sign in here, or at {location.origin}/console with the name of the workspace: {workspace.value}.
          {connection.first_sign_in_at === undefined &&
            " To test the connection, open it in a private window: nobody has signed in with these settings yet."}
        </p>
        <Code text={connection.sign_in_url} />
        {connection.metadata_url !== "" && (
          <>
            <h3>Metadata</h3>
            <Code text={connection.metadata_url} />
          </>
        )}
      </div>
      {isEditing && <ConnectionForm connection={connection} onClose={() => edit(false)} onSaved={refresh} />}
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
