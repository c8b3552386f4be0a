import { createExplainService, type Explanation as Explained } from "@client/gen/explain";
import { createQueueService, type QueueItem } from "@client/gen/queue";
import type { ItemRetry } from "@client/gen/routing";
import { useMemo, useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickRecipient } from "../../palette/picker-sources";
import { Button } from "../../ui/button";
import { confirm, Dialog } from "../../ui/dialog";
import { FormDialog } from "../../ui/form";
import { formatSeconds, formatTime } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { Name } from "../../ui/name";
import { Ready } from "../../ui/page";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";
import { itemText } from "../shared/item-text";
import { Waits } from "../shared/waits";
import { Dependencies, OfferHistory, Progress, Result } from "./item-progress";

const queues = createQueueService(transport);
const explain = createExplainService(transport);
const ended = new Set(["completed", "dead_lettered", "cancelled", "expired", "drained", "superseded"]);

interface Props {
  readonly poolId: string;
  readonly itemId: string;
  readonly onClose: () => void;
}

/** One item: where it stands, what holds it, and its failures. */
export function ItemDrawer({ poolId, itemId, onClose }: Props) {
  const id = { pool_id: poolId, queue_item_id: itemId };
  const item = useQuery(`item ${itemId}`, () => queues.getItem(id), { everyMs: 3_000 });
  const isWaiting = item.data !== undefined && item.data.state !== "leased" && !ended.has(item.data.state);
  const explanation = useQuery(
    isWaiting && can("explanation:read") ? `explanation ${itemId}` : undefined,
    () => explain.explain({ id: itemId }),
    { everyMs: 5_000, live: ["queue.paused", "queue.resumed"] },
  );
  return (
    <Dialog kind="drawer" onClose={onClose} title={item.data ? itemText(item.data) : "Item"}>
      <div class="dialog-body">
        <Ready query={item}>
          {(data) => (
            <>
              <ItemActions item={data} refresh={item.refresh} />
              {isWaiting && explanation.data && <Explanation explanation={explanation.data} />}
              {data.progress && <Progress of={data.progress} />}
              <ItemFacts item={data} />
              <Result item={data} />
              <OfferHistory item={data} />
              <Dependencies item={data} />
              {data.failures.length > 0 && <Failures item={data} />}
              <h3>Payload</h3>
              <JsonView label="Payload of the item" value={data.payload ?? {}} />
              <h3>Attributes</h3>
              <JsonView label="Attributes of the item" value={data.attributes ?? {}} />
            </>
          )}
        </Ready>
      </div>
    </Dialog>
  );
}

function ItemFacts({ item }: { readonly item: QueueItem }) {
  return (
    <Facts
      of={{
        State: <Status of={item.state} />,
        Type: item.type,
        Key: item.key,
        Recipient: item.recipient_id && <Name id={item.recipient_id} kind="recipient" />,
        Priority: item.priority,
        Attempt: item.attempt,
        "Own retries": item.retry && retryText(item.retry),
        Queued: formatTime(item.enqueued_at),
        Due: item.due_at && formatTime(item.due_at),
        "Lease ends": item.lease_expires_at && <Ago time={item.lease_expires_at} />,
        Expires: item.ended_at === undefined && item.expires_at && <Ago time={item.expires_at} />,
        Ended: item.ended_at && formatTime(item.ended_at),
        Id: <Id id={item.id} />,
      }}
    />
  );
}

/** The retries that the item sets for itself; the rest follows its pool. */
function retryText({ max_attempts, initial_ms, factor, max_ms, jitter }: ItemRetry): string {
  const parts = [
    max_attempts !== undefined && `at most ${max_attempts} attempts`,
    initial_ms !== undefined && `first after ${formatSeconds(initial_ms / 1000)}`,
    factor !== undefined && `times ${factor}`,
    max_ms !== undefined && `at most ${formatSeconds(max_ms / 1000)}`,
    jitter !== undefined && `jitter ${jitter}`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** Why the item has not been handed out. The decision about it has the same id. */
function Explanation({ explanation }: { readonly explanation: Explained }) {
  const { id, kinds, waits } = explanation;
  return (
    <Notice tone="warn">
      <strong>Why it waits.</strong>
      <Waits of={waits} />
      {kinds.includes("decision") && (
        <a class="link" href={href(`decisions/${id}`)}>
          Open the decision
        </a>
      )}
    </Notice>
  );
}

function Failures({ item }: { readonly item: QueueItem }) {
  return (
    <>
      <h3>Failed attempts</h3>
      <ol class="steps">
        {item.failures.map(({ attempt, failed_at, reason_code, reason }) => (
          <li data-tone="bad" key={attempt}>
            <span>
              <strong>Attempt {attempt}</strong> <span class="soft">{reason_code}</span>
            </span>
            <span class="when">
              <Ago time={failed_at} />
            </span>
            {reason !== "" && <span class="detail">{reason}</span>}
          </li>
        ))}
      </ol>
    </>
  );
}

function ItemActions({ item, refresh }: { readonly item: QueueItem; readonly refresh: () => void }) {
  const [isAssigning, assign] = useState(false);
  const from = useMemo(() => pickRecipient(item.pool_id), [item.pool_id]);
  if (!can("queue:write") || ended.has(item.state)) return null;
  const cancel = () =>
    confirm({
      title: "Cancel this item?",
      consequence:
        "The item leaves the queue and is not processed. A worker that has it loses its lease. This cannot be undone.",
      confirm: "Cancel item",
      done: "The item was cancelled.",
      act: () =>
        queues
          .cancelItem({ pool_id: item.pool_id, queue_item_id: item.id, reason: "cancelled in the console" })
          .then(refresh),
    });
  return (
    <div class="actions">
      {item.state !== "leased" && <Button onClick={() => assign(true)}>Assign</Button>}
      <Button onClick={cancel} tone="danger-text">
        Cancel item
      </Button>
      {isAssigning && (
        <FormDialog
          done="The item was assigned."
          fields={[{ name: "recipient_id", label: "Recipient", required: true, from }]}
          onClose={() => assign(false)}
          onSubmit={async ({ recipient_id }) => {
            await queues.assignItem({
              pool_id: item.pool_id,
              queue_item_id: item.id,
              recipient_id: String(recipient_id),
            });
            refresh();
          }}
          submit="Assign"
          title="Assign the item to a recipient"
        />
      )}
    </div>
  );
}
