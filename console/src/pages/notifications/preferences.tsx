import { createNotificationWorkflowService } from "@client/gen/notification-workflow";
import type { ChannelDecision } from "@client/gen/preference";
import { createSubscriberService, type Subscriber } from "@client/gen/subscriber";
import { useQuery } from "../../core/query";
import { setQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Card } from "../../ui/card";
import { words } from "../../ui/format";
import { filterOf, Ready } from "../../ui/page";
import { Notice, Status, type Tone } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";
import { WorkflowSelect } from "./workflow-select";

const subscribers = createSubscriberService(transport);
const workflows = createNotificationWorkflowService(transport);
const channels = ["email", "sms", "push", "chat", "in_app"] as const;

const layers = [
  "Built-in default",
  "Workflow",
  "Workflow of the user",
  "Subscriber",
  "Subscriber, this workflow",
  "Subscriber, this topic",
];

/** A person's preferences, with the layer that decides on each channel. */
export function Preferences({ subscriber }: { readonly subscriber: Subscriber }) {
  const list = useQuery("notification workflow choices", () => workflows.list({ limit: 200 }).page());
  const workflow = filterOf("workflow") ?? list.data?.items[0]?.workflow_key;
  const at = filterOf("at");
  const decisions = useQuery(
    workflow === undefined ? undefined : `preferences ${subscriber.id} ${workflow} ${at}`,
    async () =>
      subscribers.previewPreferences({
        subscriber_id: subscriber.id,
        workflow_key: workflow!,
        channels: [...channels],
        ...(at !== undefined && { at: new Date(at).toISOString() }),
      }),
    { live: ["subscriber.preference", "notification.workflow"] },
  );
  const set = (channel: string, enabled: boolean) =>
    subscribers.upsertPreference({ subscriber_id: subscriber.id, channels: { [channel]: { enabled } } }).then(() => {
      toast(`${words(channel)} is ${enabled ? "on" : "off"} for this person.`);
      decisions.refresh();
    }, toastError);
  return (
    <>
      <div class="filters">
        <WorkflowSelect choices={list.data?.items ?? []} selected={workflow} />
        <span class="soft">at</span>
        <input
          aria-label="Time, now if empty"
          class="input"
          onChange={(event) => setQuery({ at: event.currentTarget.value })}
          type="datetime-local"
          value={at ?? ""}
        />
        <span class="soft">Higher layers win over lower ones, unless a lower one is read-only.</span>
      </div>
      {list.data?.items.length === 0 && (
        <Notice tone="info">There is no notification workflow to resolve preferences for yet.</Notice>
      )}
      <Ready query={decisions}>
        {({ channels: all }) => (
          <div class="columns">
            {all.map((decision) => (
              <Channel decision={decision} key={decision.channel} set={set} />
            ))}
          </div>
        )}
      </Ready>
    </>
  );
}

interface ChannelProps {
  readonly decision: ChannelDecision;
  readonly set: (channel: string, enabled: boolean) => void;
}

function Channel({ decision: { channel, allowed, reason_code, winning_layer, trace }, set }: ChannelProps) {
  return (
    <Card
      actions={
        <>
          <Status of={allowed ? "Allowed" : "Not allowed"} tone={allowed ? "ok" : "bad"} />
          {can("notification:write") && (
            <button class="button small" onClick={() => set(channel, !allowed)} type="button">
              {allowed ? "Turn off" : "Turn on"}
            </button>
          )}
        </>
      }
      title={words(channel)}
    >
      <div class="stack">
        <p class="soft">{words(reason_code)}</p>
        <ol class="steps">
          {trace.map(({ layer, present, applied, enabled, read_only, effect }) => (
            <li data-tone={toneOfLayer(present, applied, enabled)} key={layer}>
              <span>
                <strong>{layers[layer] ?? `Layer ${layer}`}</strong>{" "}
                {layer === winning_layer && <Status of="decides" tone="info" />}{" "}
                {read_only && <Status of="read-only" tone="warn" />}
              </span>
              <span class="when">Layer {layer}</span>
              <span class="detail">{present ? words(effect) : "Says nothing"}</span>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  );
}

function toneOfLayer(present: boolean, applied: boolean, enabled: boolean | undefined): Tone {
  if (!present || !applied) return "muted";
  return enabled === false ? "bad" : "ok";
}
