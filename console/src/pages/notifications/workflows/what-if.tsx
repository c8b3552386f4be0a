import {
  createNotificationService,
  type NotificationWorkflowDraft,
  type TriggerSimulation,
} from "@client/gen/notification";
import { useQuery } from "../../../core/query";
import { href } from "../../../core/router";
import { transport } from "../../../core/transport";
import { Card, Stat } from "../../../ui/card";
import { Dialog } from "../../../ui/dialog";
import { Empty } from "../../../ui/empty";
import { formatCount, formatPercent, formatTime, words } from "../../../ui/format";
import { Prose } from "../../../ui/name";
import { Ready } from "../../../ui/page";
import { Table } from "../../../ui/table";
import { Notice } from "../../../ui/text";
import { RecordedRange, recordedRange } from "../../shared/recorded-range";

const notifications = createNotificationService(transport);
const messagesMax = 10_000;

interface Props {
  readonly workflowKey: string;
  /** The workflow with changes that are not saved. */
  readonly draft: Omit<NotificationWorkflowDraft, "workflow_key">;
  readonly onClose: () => void;
}

/** What unsaved changes of a workflow would have changed about recorded triggers. */
export function WhatIf({ workflowKey, draft, onClose }: Props) {
  const range = recordedRange();
  const simulation = useQuery(`triggers ${workflowKey} ${range.name} ${JSON.stringify(draft)}`, () => {
    const workflow_key = workflowKey;
    const changes = { workflow_key, workflows: [{ workflow_key, ...draft }], messages_max: messagesMax };
    return notifications.simulateTriggers({ ...changes, from: range.from() });
  });
  return (
    <Dialog onClose={onClose} title="Try on recorded triggers" wide>
      <div class="dialog-body stack">
        <RecordedRange label="Recorded triggers" />
        <Ready query={simulation}>
          {(found) =>
            found.triggers === 0 ? (
              <Empty title="No recorded triggers">Choose a longer time, or wait for traffic.</Empty>
            ) : (
              <Result simulation={found} />
            )
          }
        </Ready>
      </div>
    </Dialog>
  );
}

const count = { isNumber: true, width: "100px" } as const;

function Result({ simulation }: { readonly simulation: TriggerSimulation }) {
  const { triggers, changed, reproduced, without_payload, is_cut, changes, channels, outcomes } = simulation;
  return (
    <>
      <p class="soft">{`${formatTime(simulation.first_at)} to ${formatTime(simulation.last_at)}`}</p>
      {is_cut && <Notice tone="info">There are more triggers in this time: these are the newest.</Notice>}
      <div class="stats">
        <Stat
          label="Changed"
          note={changes.map((each) => `${words(each.change)} ${formatCount(each.messages)}`).join(", ") || "nothing"}
          tone={changed > 0 ? "warn" : "ok"}
          value={`${formatCount(changed)} of ${formatCount(triggers)}`}
        />
        <Stat
          label="As recorded"
          note="what is saved gives the same messages"
          value={formatPercent(reproduced / triggers)}
        />
        {without_payload > 0 && (
          <Stat label="Without payload" note="templates see an empty one" value={formatCount(without_payload)} />
        )}
      </div>
      <Table
        columns={[
          { title: "Channel", value: ({ channel }) => words(channel) },
          { ...count, title: "Recorded", value: ({ recorded }) => recorded },
          { ...count, title: "Saved", value: ({ before }) => before },
          { ...count, title: "Changed", value: ({ after }) => after },
        ]}
        keyOf={({ channel }) => channel}
        label="Messages of channels"
        rows={channels}
      />
      {outcomes.length > 0 && (
        <Table
          columns={[
            { title: "Outcome", value: ({ before, after }) => `${words(before)} → ${words(after)}` },
            { ...count, title: "Messages", value: ({ messages }) => messages },
          ]}
          keyOf={({ before, after }) => `${before} ${after}`}
          label="Outcomes that change"
          rows={outcomes}
        />
      )}
      {simulation.examples.length > 0 && <Examples simulation={simulation} />}
    </>
  );
}

function Examples({ simulation: { examples } }: { readonly simulation: TriggerSimulation }) {
  return (
    <Card title="Examples">
      <ul class="steps">
        {examples.map(({ delivery_id, transaction_id, channel, change, before, after }) => (
          <li key={`${delivery_id} ${channel} ${change}`}>
            <span>
              <a class="link" href={href("notifications", { tab: "deliveries", transaction: transaction_id })}>
                {words(channel)}
              </a>{" "}
              <Prose text={before} /> → <Prose text={after} />
            </span>
            <span class="when">{words(change)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
