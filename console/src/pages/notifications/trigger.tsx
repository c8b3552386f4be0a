import { createNotificationService, type TriggerNotificationRequest } from "@client/gen/notification";
import { createNotificationWorkflowService } from "@client/gen/notification-workflow";
import { useQuery } from "../../core/query";
import { href, navigate, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { FormDialog } from "../../ui/form";

const notifications = createNotificationService(transport);
const workflows = createNotificationWorkflowService(transport);

/** Sends a notification to one subscriber, or to everybody in a topic. */
export function TriggerButton() {
  const [isOpen, open] = useAddressedDialog("trigger", can("notification:write"));
  const list = useQuery(isOpen ? "notification workflow choices" : undefined, () =>
    workflows.list({ limit: 200 }).page(),
  );
  if (!can("notification:write")) return null;
  return (
    <>
      <Button icon="plus" onClick={() => open(true)} tone="primary">
        Send
      </Button>
      {isOpen && list.data && (
        <FormDialog
          done="The notification was triggered."
          fields={[
            {
              name: "workflow_key",
              label: "Workflow",
              kind: "choice",
              required: true,
              choices: list.data.items.map(({ workflow_key, name }) => ({
                value: workflow_key,
                label: name || workflow_key,
              })),
            },
            { name: "subscriber_external_id", label: "Subscriber", row: "to", hint: "Your own id of the person." },
            { name: "topic", label: "or topic", row: "to", hint: "Everybody in it: a broadcast." },
            { name: "channels", label: "Channels", kind: "list", hint: "All channels of the workflow when empty." },
            { name: "payload", label: "Payload", kind: "json", placeholder: `{ "order": "A-1" }` },
          ]}
          onClose={() => open(false)}
          onSubmit={async (values) => {
            const { broadcast, transaction_id } = await notifications.trigger(
              values as unknown as TriggerNotificationRequest,
            );
            const shown = broadcast === undefined ? { transaction: transaction_id } : { tab: "broadcasts" };
            navigate(href("notifications", shown));
          }}
          submit="Send"
          title="Send a notification"
        />
      )}
    </>
  );
}
