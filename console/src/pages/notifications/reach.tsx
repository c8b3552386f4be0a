import { createNotificationWorkflowService } from "@client/gen/notification-workflow";
import { createSubscriberService, type ReachReason, type Subscriber } from "@client/gen/subscriber";
import { useQuery } from "../../core/query";
import { href, withQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { Card } from "../../ui/card";
import { words } from "../../ui/format";
import { Prose } from "../../ui/name";
import { filterOf, Ready } from "../../ui/page";
import { Ago, Notice, Status, type Tone } from "../../ui/text";
import { WorkflowSelect } from "./workflow-select";

const subscribers = createSubscriberService(transport);
const workflows = createNotificationWorkflowService(transport);

/** Why a notification reaches a person or not: every check of a trigger, also if nothing was ever sent. */
export function Reach({ subscriber: { id } }: { readonly subscriber: Subscriber }) {
  const list = useQuery("notification workflow choices", () => workflows.list({ limit: 200 }).page());
  const workflow = filterOf("workflow") ?? list.data?.items[0]?.workflow_key;
  const answer = useQuery(
    workflow === undefined ? undefined : `reach ${id} ${workflow}`,
    () => subscribers.explain({ id, workflow_key: workflow! }),
    { live: ["subscriber.", "notification.", "integration."] },
  );
  if (list.data?.items.length === 0) {
    return <Notice tone="info">There is no notification workflow that could reach this person yet.</Notice>;
  }
  return (
    <>
      <div class="filters">
        <WorkflowSelect choices={list.data?.items ?? []} selected={workflow} />
      </div>
      <Ready query={answer}>
        {({ summary, verdict, reasons, past_deliveries }) => (
          <>
            <Notice tone={verdict === "reachable" ? "ok" : "warn"}>
              <Prose text={summary} />
            </Notice>
            <div class="columns">
              {[...new Set(reasons.map(({ channel }) => channel))].map((channel) => (
                <Card key={channel} title={channel === "" ? "All channels" : words(channel)}>
                  <Reasons of={reasons.filter((each) => each.channel === channel)} />
                </Card>
              ))}
              <Card title="Earlier messages">
                {past_deliveries.length === 0 ? (
                  <p class="soft">Nothing of this notification was ever sent to this person.</p>
                ) : (
                  <ol class="steps">
                    {past_deliveries.map((each) => (
                      <li data-tone={toneOfStatus(each.status)} key={each.delivery_id}>
                        <span>
                          <a class="link" href={href(`notifications/subscribers/${id}`, { open: each.delivery_id })}>
                            {words(each.channel)}
                          </a>{" "}
                          <Status of={each.status} />
                        </span>
                        <span class="when">
                          <Ago time={each.queued_at} />
                        </span>
                        <span class="detail">{each.message}</span>
                      </li>
                    ))}
                  </ol>
                )}
              </Card>
            </div>
          </>
        )}
      </Ready>
    </>
  );
}

function Reasons({ of: reasons }: { readonly of: readonly ReachReason[] }) {
  return (
    <ol class="steps">
      {reasons.map(({ source, code, passes, deciding, message, remedy }) => (
        <li data-tone={passes ? "ok" : "bad"} key={`${source} ${code}`}>
          <span>
            <strong>{words(source)}</strong> {deciding && <Status of="decides" tone={passes ? "ok" : "bad"} />}
          </span>
          <span class="when">{words(code)}</span>
          <span class="detail">
            {source === "preference" && remedy !== "" ? (
              <>
                {message}{" "}
                <a class="link" href={withQuery({ tab: "preferences" })}>
                  See the preferences
                </a>
              </>
            ) : (
              <Prose text={`${message} ${remedy}`} />
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

function toneOfStatus(status: string): Tone {
  if (status === "sent") return "ok";
  return status === "failed" ? "bad" : "muted";
}
