import { type CreateWebhookEndpointRequest, createWebhookService, type WebhookEndpoint } from "@client/gen/webhook";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { href, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty, samplesOf } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { AllEnvironments } from "../shared/environment";
import { SecretDialog } from "../shared/secret-dialog";
import { EndpointPage } from "./endpoint-page";

const webhooks = createWebhookService(transport);

const columns: readonly Column<WebhookEndpoint>[] = [
  { title: "Address", value: ({ url }) => url },
  { title: "Description", value: ({ description }) => description },
  { title: "Events", value: ({ event_types }) => event_types.join(", ") || "all" },
  { title: "Status", width: "118px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  {
    title: "Failing since",
    width: "130px",
    value: ({ failing_since }) => failing_since,
    render: ({ failing_since }) => <Ago time={failing_since} />,
  },
];

/** Webhooks: who receives our events, and whether it worked. */
export default function Webhooks({ path: [endpointId] }: { readonly path: readonly string[] }) {
  return endpointId === undefined ? <EndpointList /> : <EndpointPage endpointId={endpointId} key={endpointId} />;
}

function EndpointList() {
  const [isCreating, create] = useAddressedDialog("new", can("webhook:write"));
  const [secret, setSecret] = useState<string>();
  const list = useList("webhooks", (page) => webhooks.listEndpoints(page), { live: ["webhook."] });
  return (
    <Page
      actions={
        can("webhook:write") && (
          <Button icon="plus" onClick={() => create(true)} tone="primary">
            New endpoint
          </Button>
        )
      }
      question="Who receives our events, and did they arrive?"
      title="Webhooks"
    >
      <AllEnvironments of="Endpoints" />
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/v2/webhooks/endpoints",
              body: { url: "https://shop.example/hooks", event_types: ["order.*"] },
              cli: "webhook-endpoint create --url https://shop.example/hooks --event-types 'order.*'",
              sdk: `webhooks.createEndpoint({ url: "https://shop.example/hooks", event_types: ["order.*"] })`,
            })}
            title="No endpoint"
          >
            An endpoint is an address of yours that receives events, signed as Standard Webhooks.
          </Empty>
        }
        hrefOf={({ id }) => href(`webhooks/${id}`)}
        keyOf={({ id }) => id}
        label="Webhook endpoints"
        list={list}
      />
      {isCreating && (
        <FormDialog
          fields={[
            { name: "url", label: "Address", required: true, placeholder: "https://shop.example/hooks" },
            { name: "description", label: "Description" },
            {
              name: "event_types",
              label: "Event types",
              kind: "list",
              hint: "Separated by commas; order.* for all of a family. All when empty.",
            },
          ]}
          onClose={() => create(false)}
          onSubmit={async (values) => {
            const endpoint = await webhooks.createEndpoint(values as unknown as CreateWebhookEndpointRequest);
            setSecret(endpoint.secret);
            list.refresh();
          }}
          submit="Create endpoint"
          title="New webhook endpoint"
        />
      )}
      {secret !== undefined && (
        <SecretDialog onClose={() => setSecret(undefined)} secret={secret} title="The secret of the endpoint">
          Verify signatures with it. No later call returns it.
        </SecretDialog>
      )}
    </Page>
  );
}
