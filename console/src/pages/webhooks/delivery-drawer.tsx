import { createWebhookService } from "@client/gen/webhook";
import { useQuery } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { formatClock, formatSeconds, formatTime, words } from "../../ui/format";
import { Name } from "../../ui/name";
import { Ready } from "../../ui/page";
import { Facts, Id, Status } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";

const webhooks = createWebhookService(transport);

interface Props {
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly onClose: () => void;
}

/** One delivery with all its attempts. */
export function DeliveryDrawer({ endpointId, deliveryId, onClose }: Props) {
  const id = { endpoint_id: endpointId, delivery_id: deliveryId };
  const delivery = useQuery(`delivery ${deliveryId}`, () => webhooks.getDelivery(id), { everyMs: 3_000 });
  const replay = () =>
    webhooks.replayDelivery(id).then(() => {
      toast("The delivery is sent again.");
      delivery.refresh();
    }, toastError);
  return (
    <Dialog
      actions={
        can("webhook:write") && (
          <Button onClick={replay} small>
            Replay
          </Button>
        )
      }
      kind="drawer"
      onClose={onClose}
      title={delivery.data?.event_type ?? "Delivery"}
    >
      <div class="dialog-body">
        <Ready query={delivery}>
          {(data) => (
            <>
              <Facts
                of={{
                  Status: <Status of={data.status} />,
                  Event: <Name id={data.id} kind="event" />,
                  "Message id": <Id id={data.message_id} />,
                  Created: formatTime(data.created_at),
                  "Next attempt": data.next_attempt_at && formatTime(data.next_attempt_at),
                  Ended: data.ended_at && formatTime(data.ended_at),
                }}
              />
              <h3>Attempts</h3>
              <ol class="steps">
                {data.attempts.map(({ at, duration_ms, response_status, failure }, index) => {
                  const isGood = response_status >= 200 && response_status < 300;
                  return (
                    <li data-tone={isGood ? "ok" : "bad"} key={`${at} ${index}`}>
                      <span>
                        <strong>{response_status > 0 ? `HTTP ${response_status}` : words(failure)}</strong>{" "}
                        <span class="soft">{formatSeconds(duration_ms / 1000)}</span>
                      </span>
                      <span class="when">{formatClock(at)}</span>
                    </li>
                  );
                })}
              </ol>
            </>
          )}
        </Ready>
      </div>
    </Dialog>
  );
}
