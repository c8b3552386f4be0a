import {
  createWebhookService,
  type ReplayWebhookEndpointRequest,
  type UpdateWebhookEndpointRequest,
  type WebhookDelivery,
  type WebhookEndpoint,
} from "@client/gen/webhook";
import { useState } from "preact/hooks";
import { useList, useQuery } from "../../core/query";
import { href, navigate, setQuery, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, Page, Ready } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Chips, Facts, Id, Notice, Status } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";
import { SecretDialog } from "../shared/secret-dialog";
import { DeliveryDrawer } from "./delivery-drawer";

const webhooks = createWebhookService(transport);
const statuses = ["PENDING", "SUCCEEDED", "FAILED", "CANCELLED"];

const columns: readonly Column<WebhookDelivery>[] = [
  { title: "Event", value: ({ event_type }) => event_type },
  { title: "Status", width: "120px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  { title: "Attempts", width: "94px", isNumber: true, value: ({ attempt_count }) => attempt_count },
  { title: "Last answer", width: "150px", value: ({ attempts }) => lastAnswer(attempts) },
  {
    title: "Next attempt",
    width: "120px",
    value: ({ next_attempt_at }) => next_attempt_at,
    render: ({ next_attempt_at }) => <Ago time={next_attempt_at} />,
  },
  {
    title: "Created",
    width: "110px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
];

function lastAnswer(attempts: WebhookDelivery["attempts"]): string {
  const last = attempts.at(-1);
  if (last === undefined) return "";
  return last.response_status > 0 ? String(last.response_status) : words(last.failure);
}

/** One endpoint: its deliveries with every attempt, and replays. */
export function EndpointPage({ endpointId }: { readonly endpointId: string }) {
  const endpoint = useQuery(`webhook ${endpointId}`, () => webhooks.getEndpoint({ endpoint_id: endpointId }), {
    live: ["webhook."],
  });
  const status = filterOf("status") as WebhookDelivery["status"] | undefined;
  const list = useList(
    `deliveries ${endpointId} ${status}`,
    (page) => webhooks.listDeliveries({ ...page, endpoint_id: endpointId, status }),
    { everyMs: 4_000 },
  );
  const opened = filterOf("open");
  return (
    <Page
      actions={endpoint.data && <Actions endpoint={endpoint.data} refresh={endpoint.refresh} />}
      badge={<Status of={endpoint.data?.status} />}
      crumbs={[{ title: "Webhooks", path: "webhooks" }]}
      question="Did the events arrive here?"
      title={endpoint.data?.description || endpoint.data?.url || "Endpoint"}
    >
      <Ready query={endpoint}>{(data) => <EndpointFacts endpoint={data} />}</Ready>
      <div class="filters">
        <ChoiceFilter choices={statuses.map((each) => [`STATUS_${each}`, words(each)])} label="Status" name="status" />
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty title="No delivery">Events of the types of this endpoint appear here with all their attempts.</Empty>
        }
        hrefOf={({ id }) => withQuery({ open: id })}
        keyOf={({ id }) => id}
        label="Deliveries"
        list={list}
      />
      {opened !== undefined && (
        <DeliveryDrawer deliveryId={opened} endpointId={endpointId} onClose={() => setQuery({ open: undefined })} />
      )}
    </Page>
  );
}

function EndpointFacts({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  return (
    <Card>
      {endpoint.failing_since && (
        <Notice tone="warn">
          Deliveries have failed since <Ago time={endpoint.failing_since} />. After five days the endpoint is disabled.
        </Notice>
      )}
      <Facts
        of={{
          Address: <code>{endpoint.url}</code>,
          "Event types": <Chips none="all" of={endpoint.event_types} />,
          "Disabled because": endpoint.status === "STATUS_DISABLED" ? words(endpoint.disabled_reason) : undefined,
          "Previous secret until": endpoint.previous_secret_valid_until && (
            <Ago time={endpoint.previous_secret_valid_until} />
          ),
          Created: <Ago time={endpoint.created_at} />,
          Id: <Id id={endpoint.id} />,
        }}
      />
    </Card>
  );
}

function Actions({ endpoint, refresh }: { readonly endpoint: WebhookEndpoint; readonly refresh: () => void }) {
  const [dialog, open] = useState<"edit" | "replay">();
  const [secret, setSecret] = useState<string>();
  const id = { endpoint_id: endpoint.id };
  const isActive = endpoint.status === "STATUS_ACTIVE";
  if (!can("webhook:write")) return null;
  const test = () => webhooks.testEndpoint(id).then(() => toast("A test event was sent."), toastError);
  const toggle = () =>
    webhooks
      .updateEndpoint({ ...id, status: isActive ? "STATUS_DISABLED" : "STATUS_ACTIVE" })
      .then(refresh, toastError);
  const rotate = () =>
    confirm({
      title: "Rotate the secret?",
      consequence:
        "Deliveries are signed with the old and the new secret for a day, so that the receiver can change in between.",
      confirm: "Rotate secret",
      done: "The endpoint has a new secret.",
      act: () => webhooks.rotateSecret(id).then((changed) => setSecret(changed.secret)),
    });
  const remove = () =>
    confirm({
      title: "Delete this endpoint?",
      consequence: "It receives nothing any more, and its deliveries and attempts are deleted. This cannot be undone.",
      confirm: "Delete endpoint",
      typed: "delete",
      done: "The endpoint was deleted.",
      act: () => webhooks.deleteEndpoint(id).then(() => navigate(href("webhooks"))),
    });
  return (
    <>
      <Button onClick={test}>Send test</Button>
      <Button onClick={() => open("replay")}>Replay</Button>
      <Button onClick={rotate}>Rotate secret</Button>
      <Button onClick={() => open("edit")}>Edit</Button>
      <Button onClick={toggle}>{isActive ? "Disable" : "Enable"}</Button>
      {can("webhook:delete") && (
        <Button onClick={remove} tone="danger-text">
          Delete
        </Button>
      )}
      {dialog === "edit" && (
        <FormDialog
          done="The endpoint was changed."
          fields={[
            { name: "url", label: "Address", required: true },
            { name: "description", label: "Description" },
            { name: "event_types", label: "Event types", kind: "list" },
          ]}
          initial={{ ...endpoint }}
          onClose={() => open(undefined)}
          onSubmit={async ({ event_types, ...values }) => {
            const change = { ...values, ...id, event_type_set: { types: event_types ?? [] } };
            await webhooks.updateEndpoint(change as UpdateWebhookEndpointRequest);
            refresh();
          }}
          submit="Save changes"
          title="Change the endpoint"
        />
      )}
      {dialog === "replay" && <ReplayDialog endpoint={endpoint} onClose={() => open(undefined)} />}
      {secret !== undefined && (
        <SecretDialog onClose={() => setSecret(undefined)} secret={secret} title="The new secret">
          No later call returns it.
        </SecretDialog>
      )}
    </>
  );
}

function ReplayDialog({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; readonly onClose: () => void }) {
  return (
    <FormDialog
      done="The replay has started."
      fields={[
        { name: "since", label: "From", kind: "time", required: true, row: "range" },
        { name: "until", label: "To", kind: "time", row: "range" },
        {
          name: "selection",
          label: "Which events",
          kind: "choice",
          required: true,
          choices: [
            { value: "SELECTION_FAILED", label: "Those that failed" },
            { value: "SELECTION_MISSING", label: "Those that were never delivered" },
            { value: "SELECTION_ALL", label: "All of them" },
          ],
        },
      ]}
      onClose={onClose}
      onSubmit={(values) =>
        webhooks.replayEndpoint({ ...values, endpoint_id: endpoint.id } as unknown as ReplayWebhookEndpointRequest)
      }
      submit="Replay"
      title="Send past events again"
    />
  );
}
