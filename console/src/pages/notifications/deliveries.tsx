import { createExplainService } from "@client/gen/explain";
import { createNotificationService, type Delivery } from "@client/gen/notification";
import { useList, useQuery } from "../../core/query";
import { href, setQuery, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickSubscriber } from "../../palette/picker-sources";
import { Dialog } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { formatTime, words } from "../../ui/format";
import { Name, nameColumn, nameText, Prose } from "../../ui/name";
import { filterOf, ListTable, PickerFilter, Ready, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";

const notifications = createNotificationService(transport);
const explain = createExplainService(transport);

/** The messages of all subscribers, of one, or of one trigger. */
export function Deliveries({ subscriberId }: { readonly subscriberId?: string }) {
  const transactionId = filterOf("transaction");
  const chosen = subscriberId ?? filterOf("subscriber");
  const selection = transactionId === undefined ? { subscriber_id: chosen } : { transaction_id: transactionId };
  const list = useList(
    `notification deliveries ${JSON.stringify(selection)}`,
    (page) => notifications.listDeliveries({ ...page, ...selection }),
    { everyMs: 4_000, live: ["notification."] },
  );
  const opened = filterOf("open");
  const columns: readonly Column<Delivery>[] = [
    { title: "Workflow", value: ({ workflow_key }) => workflow_key },
    ...(subscriberId === undefined
      ? [nameColumn<Delivery>({ title: "Subscriber", kind: "subscriber", id: ({ subscriber_id }) => subscriber_id })]
      : []),
    { title: "Channel", width: "100px", value: ({ channel }) => words(channel) },
    { title: "Status", width: "130px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
    { title: "Why", value: (delivery) => whyOf(delivery) },
    {
      title: "When",
      width: "110px",
      value: ({ queued_at }) => queued_at,
      render: ({ queued_at }) => <Ago time={queued_at} />,
    },
  ];
  return (
    <>
      {subscriberId === undefined && (
        <div class="filters">
          {transactionId === undefined && <PickerFilter from={pickSubscriber} label="Subscriber" name="subscriber" />}
          <TextFilter label="or transaction id" name="transaction" />
        </div>
      )}
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/v2/notifications/trigger",
              body: { workflow_key: "order.shipped", subscriber_external_id: "ada", payload: { order: "A-1" } },
              cli: `notification trigger --workflow-key order.shipped --subscriber-external-id ada --payload '{"order": "A-1"}'`,
              sdk: `notifications.trigger({ workflow_key: "order.shipped", subscriber_external_id: "ada", payload: { order: "A-1" } })`,
            })}
            title="No delivery"
          >
            Every message is here with its outcome: sent, skipped because of a preference, or failed and why.
          </Empty>
        }
        hrefOf={({ id }) => withQuery({ open: id })}
        keyOf={({ id }) => id}
        label="Deliveries"
        list={list}
      />
      {opened !== undefined && <DeliveryDrawer id={opened} onClose={() => setQuery({ open: undefined })} />}
    </>
  );
}

/** The reason of the outcome, in words. */
function whyOf({ status, failure_code, preference_reason_code }: Delivery): string {
  if (failure_code !== "") return words(failure_code);
  return status === "skipped" ? (preferenceTexts[preference_reason_code] ?? words(preference_reason_code)) : "";
}

const preferenceTexts: Readonly<Record<string, string>> = {
  denied_by_layer: "Forbidden by a preference",
  denied_read_only: "Forbidden by a fixed preference",
  denied_quiet_hours: "Quiet hours",
  denied_channel_condition: "A condition did not hold",
  denied_condition_error: "A condition failed",
  denied_subscriber_inactive: "The subscriber is not active",
  denied_not_requested: "The trigger did not ask for it",
};

interface DrawerProps {
  readonly id: string;
  readonly onClose: () => void;
}

function DeliveryDrawer({ id, onClose }: DrawerProps) {
  const delivery = useQuery(`notification delivery ${id}`, () => notifications.getDelivery({ delivery_id: id }));
  const observations = useQuery(`observations ${id}`, () =>
    notifications.listObservations({ delivery_id: id, limit: 50 }).page(),
  );
  return (
    <Dialog kind="drawer" onClose={onClose} title={delivery.data?.workflow_key ?? "Delivery"}>
      <div class="dialog-body">
        <Ready query={delivery}>
          {(data) => (
            <>
              <Answer delivery={data} name={nameText(data.subscriber_id, "subscriber")} />
              <Facts
                of={{
                  Status: <Status of={data.status} />,
                  Subscriber: <Name id={data.subscriber_id} kind="subscriber" />,
                  Channel: words(data.channel),
                  Provider: data.provider_key,
                  "Provider's id": data.provider_message_id,
                  Attempts: `${data.provider_attempt} of ${data.max_attempts}`,
                  Queued: formatTime(data.queued_at),
                  Sent: data.sent_at && formatTime(data.sent_at),
                  "Transaction id": <Id id={data.transaction_id} />,
                  Id: <Id id={data.id} />,
                }}
              />
              {(observations.data?.items.length ?? 0) > 0 && (
                <>
                  <h3>What the provider reported</h3>
                  <ol class="steps">
                    {observations.data!.items.map(({ sequence, kind, occurred_at, category }) => (
                      <li data-tone="info" key={sequence}>
                        <span>
                          <strong>{words(kind)}</strong> <span class="soft">{words(category)}</span>
                        </span>
                        <span class="when">
                          <Ago time={occurred_at} />
                        </span>
                      </li>
                    ))}
                  </ol>
                </>
              )}
            </>
          )}
        </Ready>
      </div>
    </Dialog>
  );
}

/** The answer to "did it arrive, and why not?". */
function Answer({ delivery, name }: { readonly delivery: Delivery; readonly name: string }) {
  const { id, status, channel, failure_code, failure_detail, subscriber_id, workflow_key } = delivery;
  const isSkipped = status === "skipped" && failure_code === "";
  const explanation = useQuery(isSkipped && can("explanation:read") ? `delivery explained ${id}` : undefined, () =>
    explain.explain({ id }),
  );
  const where = words(channel).toLowerCase();
  if (status === "sent") return <Notice tone="ok">The message was handed over for {where}.</Notice>;
  if (isSkipped) {
    const page = `notifications/subscribers/${subscriber_id}`;
    return (
      <Notice tone="warn">
        <Prose text={explanation.data?.summary ?? `${name} did not get it on ${where}: ${whyOf(delivery)}.`} />{" "}
        <a class="link" href={href(page, { tab: "why", workflow: workflow_key })}>
          Why not?
        </a>{" "}
        <a class="link" href={href(page, { tab: "preferences", workflow: workflow_key })}>
          Preferences
        </a>
      </Notice>
    );
  }
  if (failure_code !== "") {
    return (
      <Notice tone="bad">
        {name} did not get it on {where}: {words(failure_code).toLowerCase()}. {failure_detail}
      </Notice>
    );
  }
  return <Notice tone="info">The message is on its way.</Notice>;
}
