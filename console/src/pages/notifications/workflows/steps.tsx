import {
  createNotificationWorkflowService,
  type NotificationStep,
  type NotificationWorkflow,
  type StepWait,
  type UpsertNotificationWorkflowRequest,
} from "@client/gen/notification-workflow";
import { useState } from "preact/hooks";
import { can } from "../../../core/session";
import { transport } from "../../../core/transport";
import { Button } from "../../../ui/button";
import { Card } from "../../../ui/card";
import { Empty } from "../../../ui/empty";
import { FormDialog } from "../../../ui/form";
import { formatSeconds, words } from "../../../ui/format";
import { wholeWorkflow } from "./whole-workflow";

const workflows = createNotificationWorkflowService(transport);

interface Props {
  readonly workflow: NotificationWorkflow;
  readonly refresh: () => void;
}

/** The steps before and between the messages of a workflow, in order. */
export function Steps({ workflow, refresh }: Props) {
  const [isEditing, edit] = useState(false);
  const { steps } = workflow;
  const button = can("notification:write") && (
    <Button onClick={() => edit(true)} small={steps.length > 0}>
      {steps.length > 0 ? "Edit" : "Add steps"}
    </Button>
  );
  return (
    <>
      {steps.length === 0 ? (
        <Empty action={button} title="No steps">
          Without steps, all channels are sent at once. Steps wait, collect triggers into one message, limit how often
          somebody is notified, and send only if an inbox message is not read.
        </Empty>
      ) : (
        <Card actions={button} title="Steps">
          <ol class="steps">
            {steps.map((step) => (
              <li data-tone={step.send === undefined ? "warn" : "info"} key={step.key}>
                <strong>{stepText(step)}</strong>
                <code class="when">{step.key}</code>
                {step.condition !== "" && (
                  <span class="detail">
                    Only if <code>{step.condition}</code>
                  </span>
                )}
              </li>
            ))}
          </ol>
        </Card>
      )}
      {isEditing && <StepsDialog onClose={() => edit(false)} refresh={refresh} workflow={workflow} />}
    </>
  );
}

function StepsDialog({ workflow, refresh, onClose }: Props & { readonly onClose: () => void }) {
  const channels = Object.keys(workflow.channels ?? {});
  const example = [
    { key: "wait", delay: { for_s: 3600 } },
    { key: "send", send: { channels } },
  ];
  return (
    <FormDialog
      done="The steps were saved."
      fields={[
        {
          name: "steps",
          label: "Steps",
          kind: "json",
          hint: "In order. Each has a key and one of send, delay, digest, throttle and await_inbox. None when empty.",
        },
      ]}
      initial={{ steps: workflow.steps.length > 0 ? workflow.steps : example }}
      onClose={onClose}
      onSubmit={async ({ steps = [] }) => {
        await workflows.upsert({ ...wholeWorkflow(workflow), steps } as UpsertNotificationWorkflowRequest);
        refresh();
      }}
      submit="Save steps"
      title={`Steps of ${workflow.name || workflow.workflow_key}`}
      wide
    />
  );
}

/** A step in words. */
function stepText({ send, delay, digest, throttle, await_inbox }: NotificationStep): string {
  if (send) return `Send: ${send.channels.map((each) => words(each).toLowerCase()).join(", ")}`;
  if (delay) return `Wait ${waitText(delay)}`;
  if (digest) return `Collect triggers${keyText(digest.key)}, ${waitText(digest.window)}`;
  if (throttle) {
    return `Stop after ${throttle.limit} within ${formatSeconds(throttle.window_s)}${keyText(throttle.key)}`;
  }
  if (await_inbox) {
    return `Wait until ${await_inbox.step} is ${await_inbox.state}, at most ${formatSeconds(await_inbox.for_s)}`;
  }
  return "Unknown step";
}

function keyText(key: string): string {
  return key === "" ? "" : ` per ${key}`;
}

function waitText(wait: StepWait | undefined): string {
  if (wait === undefined) return "";
  if (wait.until !== "") return `until ${wait.until}`;
  if (wait.at === "") return `for ${formatSeconds(wait.for_s)}`;
  const days = wait.days.length === 0 ? "" : ` on ${wait.days.map(words).join(", ")}`;
  return `until ${wait.at}${days} (${wait.timezone || "in the subscriber's time zone"})`;
}
