import { createWebhookService } from "@client/gen/webhook";
import { useQuery } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Ready } from "../../ui/page";
import { Ago, Status } from "../../ui/text";

const webhooks = createWebhookService(transport);
const shownMax = 20;

/** To which endpoints an event was sent, and whether they accepted it. */
export function EventDeliveries({ eventId }: { readonly eventId: string }) {
  const deliveries = useQuery(
    can("webhook:read") ? `deliveries of event ${eventId}` : undefined,
    async () => {
      const [sent, endpoints] = await Promise.all([
        webhooks.listEventDeliveries({ event_id: eventId, limit: shownMax }).page(),
        webhooks.listEndpoints({ limit: 200 }).page(),
      ]);
      return sent.items.map((delivery) => ({
        ...delivery,
        endpoint: endpoints.items.find(({ id }) => id === delivery.endpoint_id),
      }));
    },
    { everyMs: 3_000 },
  );
  if (!can("webhook:read")) return null;
  return (
    <>
      <h3>Deliveries</h3>
      <Ready query={deliveries}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">No webhook endpoint got this event.</p>
          ) : (
            <ul class="stack">
              {rows.map(({ id, endpoint_id, endpoint, status, ended_at }) => (
                <li key={endpoint_id}>
                  <a class="link" href={href(`webhooks/${endpoint_id}`, { open: id })}>
                    {endpoint?.description || endpoint?.url || "A deleted endpoint"}
                  </a>{" "}
                  <Status of={status} /> {ended_at && <Ago time={ended_at} />}
                </li>
              ))}
            </ul>
          )
        }
      </Ready>
    </>
  );
}
