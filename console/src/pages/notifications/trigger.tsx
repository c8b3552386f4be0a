import {
  createNotificationService,
  type TriggerNotificationRequest,
  type TriggerNotificationResponse,
} from "@client/gen/notification";
import { createNotificationWorkflowService, type NotificationWorkflow } from "@client/gen/notification-workflow";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickSubscriber, pickTopicKey } from "../../palette/picker-sources";
import { Button } from "../../ui/button";
import { type Example, FormDialog, type Texts } from "../../ui/form";
import { type Schema, schemaFields } from "../../ui/form/schema-fields";
import { formatAgo, words } from "../../ui/format";
import { Status } from "../../ui/text";

const notifications = createNotificationService(transport);
const workflows = createNotificationWorkflowService(transport);
const channels = ["email", "sms", "push", "chat", "in_app"];

/** What was sent from here since the console was opened, newest first. The service never shows payloads, as they may hold secrets. */
let sent: readonly Sent[] = [];
const sentMax = 20;

interface Sent {
  readonly request: TriggerNotificationRequest;
  readonly at: string;
}

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
      {isOpen && list.data && <TriggerDialog onClose={() => open(false)} workflows={list.data.items} />}
    </>
  );
}

interface Props {
  readonly workflows: readonly NotificationWorkflow[];
  readonly onClose: () => void;
}

/** Asks for what the templates of the workflow read. */
function TriggerDialog({ workflows: all, onClose }: Props) {
  const [texts, enter] = useState<Texts>({});
  const chosen = all.find(({ workflow_key }) => workflow_key === texts.workflow_key) ?? all[0];
  return (
    <FormDialog
      answer={(response: TriggerNotificationResponse) => <Answer sent={response} />}
      examples={sent.map(exampleOf)}
      fields={[
        {
          name: "workflow_key",
          label: "Workflow",
          kind: "choice",
          required: true,
          choices: all.map(({ workflow_key, name }) => ({ value: workflow_key, label: name || workflow_key })),
        },
        { name: "subscriber_id", label: "Subscriber", row: "to", from: pickSubscriber },
        { name: "topic", label: "or topic", row: "to", from: pickTopicKey, hint: "Everybody in it: a broadcast." },
        {
          name: "channels",
          label: "Channels",
          kind: "list",
          hint: `Of ${channels.join(", ")}. All channels of the workflow when empty.`,
        },
        ...schemaFields("payload", "Payload", chosen && payloadSchema(chosen)),
      ]}
      onClose={onClose}
      onEnter={enter}
      onSubmit={async (values) => {
        const request = values as unknown as TriggerNotificationRequest;
        const response = await notifications.trigger(request);
        sent = [{ request, at: new Date().toISOString() }, ...sent].slice(0, sentMax);
        return response;
      }}
      submit="Send"
      title="Send a notification"
      wide
    />
  );
}

function exampleOf({ request: { workflow_key, subscriber_id, topic, channels, payload = {} }, at }: Sent): Example {
  const label = [workflow_key, topic, formatAgo(at, Date.now())].filter(Boolean).join(", ");
  return { label, values: { workflow_key, subscriber_id, topic, channels, payload } };
}

/** The members of the payload that the templates and steps of a workflow read. */
function payloadSchema({ channels: contents, steps }: NotificationWorkflow): Schema {
  const read = JSON.stringify([contents, steps]).matchAll(/\bpayload\.([a-zA-Z_]\w*)(\.|\[)?/g);
  const properties: Record<string, Schema> = {};
  for (const [, name, deeper] of read)
    if (deeper || !(name! in properties)) properties[name!] = deeper ? { type: "object" } : {};
  return { properties };
}

/** What came of the trigger: its messages, its run or its broadcast. */
function Answer({
  sent: { transaction_id, outcomes, broadcast, run_id },
}: {
  readonly sent: TriggerNotificationResponse;
}) {
  return (
    <div class="stack">
      <p>The notification was triggered.</p>
      {outcomes.length > 0 && (
        <ul class="stack">
          {outcomes.map(({ channel, outcome, delivery_id, failure_code, preference_reason_code }) => (
            <li key={delivery_id}>
              {words(channel)} <Status of={outcome} />{" "}
              <span class="soft">
                {failure_code !== "" && words(failure_code)}
                {outcome === "skipped" && words(preference_reason_code)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        {broadcast !== undefined && (
          <a class="link" href={href("notifications", { tab: "broadcasts" })}>
            Open the broadcast
          </a>
        )}
        {run_id !== "" && (
          <a class="link" href={href("notifications", { tab: "runs", open: run_id })}>
            Open the run
          </a>
        )}
        {broadcast === undefined && run_id === "" && (
          <a class="link" href={href("notifications", { transaction: transaction_id })}>
            Open the messages
          </a>
        )}
      </div>
    </div>
  );
}
