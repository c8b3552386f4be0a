import { createTriggerSubscriptionService, type TriggerSubscription } from "@client/gen/trigger-subscription";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { words } from "../../ui/format";
import { proseColumn } from "../../ui/name";
import { ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";

const triggers = createTriggerSubscriptionService(transport);

const columns: readonly Column<TriggerSubscription>[] = [
  { title: "Subscription", value: ({ name, trigger_key }) => name || trigger_key },
  {
    title: "Trigger",
    value: ({ trigger_key }) => trigger_key,
    render: ({ trigger_key }) => <code>{trigger_key}</code>,
  },
  { title: "Kind", width: "100px", value: ({ kind }) => words(kind) },
  { title: "Status", width: "120px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  {
    title: "Last event",
    width: "120px",
    value: ({ last_event_at }) => last_event_at,
    render: ({ last_event_at }) => <Ago time={last_event_at} />,
  },
  proseColumn("Last error", ({ last_error }) => last_error),
];

/** Subscriptions to provider events. */
export function Triggers() {
  const list = useList("trigger subscriptions", (page) => triggers.list(page), { live: ["connector."] });
  const toggle = ({ id, status }: TriggerSubscription) =>
    (status === "paused" ? triggers.resume({ subscription_id: id }) : triggers.pause({ subscription_id: id })).then(
      () => {
        toast(status === "paused" ? "Events are received again." : "Events are not received any more.");
        list.refresh();
      },
      toastError,
    );
  const remove = ({ id, name, trigger_key }: TriggerSubscription) =>
    confirm({
      title: `Delete ${name || trigger_key}?`,
      consequence: "Its webhook at the provider is removed, and its events start nothing any more.",
      confirm: "Delete subscription",
      done: "The subscription was deleted.",
      act: () => triggers.delete({ subscription_id: id }).then(list.refresh),
    });
  return (
    <ListTable
      columns={columns}
      empty={
        <Empty
          samples={{
            curl: `curl -sS -X POST '$ORIGIN/api/v2/connector/trigger-subscriptions' \\\n  -H "X-API-Key: $SWITCHYARD_KEY" -H 'Content-Type: application/json' \\\n  -d '{"trigger_key": "github.issue.opened", "connection_id": "…", "target": {"record": {}}}'`,
            cli: `service trigger-subscription create --trigger-key github.issue.opened --connection-id … --target '{"record": {}}'`,
            sdk: `await client.triggerSubscriptions.create({ trigger_key: "github.issue.opened", connection_id: "…", target: { record: {} } });`,
          }}
          title="No subscription"
        >
          A subscription lets events of a connected system start a workflow or route an item.
        </Empty>
      }
      keyOf={({ id }) => id}
      label="Trigger subscriptions"
      list={list}
      rowActions={
        can("connector_trigger:write")
          ? (subscription) => (
              <>
                <Button onClick={() => toggle(subscription)} small tone="quiet">
                  {subscription.status === "paused" ? "Resume" : "Pause"}
                </Button>
                {can("connector_trigger:delete") && (
                  <Button onClick={() => remove(subscription)} small tone="quiet">
                    Delete
                  </Button>
                )}
              </>
            )
          : undefined
      }
      rowActionsWidth="160px"
    />
  );
}
