import { createEventService } from "@client/gen/event";
import { createNotificationService } from "@client/gen/notification";
import { useQuery } from "../../core/query";
import { href } from "../../core/router";
import { transport } from "../../core/transport";
import { Card, Meter } from "../../ui/card";
import { Empty, samplesOf } from "../../ui/empty";
import { formatCount } from "../../ui/format";
import { Ready } from "../../ui/page";
import { Ago, Status } from "../../ui/text";

const events = createEventService(transport);
const notifications = createNotificationService(transport);
const shownMax = 20;

/** The newest broadcasts with their progress. The event log knows which there were. */
export function Broadcasts() {
  const list = useQuery(
    "broadcasts",
    async () => {
      const { items } = await events.list({ types: ["notification.broadcast.accepted"], limit: shownMax }).page();
      const read = items.map(({ subject }) =>
        notifications.getBroadcast({ transaction_id: subject }).catch(() => undefined),
      );
      return (await Promise.all(read)).filter((each) => each !== undefined);
    },
    { everyMs: 3_000, live: ["notification.broadcast"] },
  );
  return (
    <Ready query={list}>
      {(all) =>
        all.length === 0 ? (
          <Empty
            samples={samplesOf({
              path: "/api/v2/notifications/trigger",
              body: { workflow_key: "product.news", topic: "news", payload: { headline: "Hello" } },
              cli: `notification trigger --workflow-key product.news --topic news --payload '{"headline": "Hello"}'`,
              sdk: `notifications.trigger({ workflow_key: "product.news", topic: "news", payload: { headline: "Hello" } })`,
            })}
            title="No broadcast"
          >
            A trigger for a topic goes to all its members, page by page. Its progress is shown here.
          </Empty>
        ) : (
          <div class="stack">
            {all.map(
              ({ transaction_id, workflow_key, topic_key, status, expanded, total, created_at, failure_code }) => {
                const share = Number(total) === 0 ? 1 : Number(expanded) / Number(total);
                return (
                  <Card actions={<Status of={status} />} key={transaction_id} title={`${workflow_key} to ${topic_key}`}>
                    <div class="stack">
                      <Meter share={share} />
                      <div class="filters soft">
                        <span class="number">
                          {formatCount(Number(expanded))} of {formatCount(Number(total))} members
                        </span>
                        {failure_code !== "" && <Status of={failure_code} tone="bad" />}
                        <Ago time={created_at} />
                        <span class="spacer" />
                        <a class="link" href={href("notifications", { transaction: transaction_id })}>
                          Its deliveries
                        </a>
                      </div>
                    </div>
                  </Card>
                );
              },
            )}
          </div>
        )
      }
    </Ready>
  );
}
