import { type ConnectSession, createConnectSessionService } from "@client/gen/connect-session";
import type { ConnectorProvider } from "@client/gen/connector-catalog";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { workspace } from "../../core/router";
import { can, session } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { Code, Notice } from "../../ui/text";
import { environmentFields, initialEnvironment } from "../shared/environment";

const sessions = createConnectSessionService(transport);

/** Creates a link with which an account is connected. Credentials are entered there, and never pass through the console. */
export function ConnectButton({ provider }: { readonly provider: ConnectorProvider }) {
  const [isOpen, open] = useState(false);
  const [created, setCreated] = useState<ConnectSession>();
  if (!can("connect_session:write") || provider.auth.every(({ mode }) => mode === "none")) return null;
  return (
    <>
      <Button onClick={() => open(true)} small tone="primary">
        Connect
      </Button>
      {isOpen && (
        <FormDialog
          fields={[
            {
              name: "connection_name",
              label: "Name of the connection",
              placeholder: `${provider.name} of the support team`,
            },
            {
              name: "end_user.id",
              label: "End user",
              hint: "Your own id of the person or organization whose account it is. The page of the link shows it.",
              required: true,
            },
            ...environmentFields(),
          ]}
          initial={{ end_user: { id: session.value?.tenantName || workspace.value }, ...initialEnvironment() }}
          onClose={() => open(false)}
          onSubmit={async (values) => {
            const request = { ...values, allowed_provider_keys: [provider.key] };
            setCreated(await sessions.create(request as unknown as Parameters<typeof sessions.create>[0]));
          }}
          submit="Create link"
          title={`Connect an account of ${provider.name}`}
        />
      )}
      {created !== undefined && <LinkDialog created={created} onClose={() => setCreated(undefined)} />}
    </>
  );
}

/** Shows the link until it was used, and then what came of it. */
function LinkDialog({ created, onClose }: { readonly created: ConnectSession; readonly onClose: () => void }) {
  const { id, connect_url = "" } = created;
  const key = can("connect_session:read") ? `connect session ${id}` : undefined;
  const { data = created } = useQuery(key, () => sessions.get({ id }), { live: ["connect_session."] });
  return (
    <Dialog onClose={onClose} title="Connect the account">
      <div class="dialog-body">
        {data.result_connection_id !== "" ? (
          <Notice tone="ok">The account is connected.</Notice>
        ) : data.ended_at !== undefined ? (
          <Notice tone="bad">
            The account was not connected, and the link no longer works: {words(data.error_code || data.status)}.
          </Notice>
        ) : (
          <>
            <p class="soft">The link works once. Open it, or send it to whoever owns the account.</p>
            <Code text={connect_url} />
            <a class="button primary" href={connect_url} rel="noreferrer" target="_blank">
              Open the link
            </a>
          </>
        )}
      </div>
    </Dialog>
  );
}
