import { createDeadLetterService, type DeadLetter } from "@client/gen/dead-letter";
import { useState } from "preact/hooks";
import { useList, useQuery } from "../../core/query";
import { href, navigate, setQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Stat } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { formatCount, words } from "../../ui/format";
import { nameColumn } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { announce } from "../../ui/toast";
import { BulkDialog } from "../shared/bulk-dialog";
import { usePoolNames } from "../shared/pool-filter";
import { deadLetterChange } from "./dead-letter-change";

const deadLetters = createDeadLetterService(transport);

const columns: readonly Column<DeadLetter>[] = [
  nameColumn({ title: "Item", kind: "queue_item", id: ({ queue_item_id }) => queue_item_id, plain: true }),
  { title: "State", width: "124px", value: ({ state }) => state, render: ({ state }) => <Status of={state} /> },
  { title: "Why", value: ({ reason_code }) => reason_code },
  { title: "Last error", value: ({ attempts }) => attempts.at(-1)?.reason },
  { title: "Attempts", width: "94px", isNumber: true, value: ({ attempts }) => attempts.length },
  { title: "Retries", width: "90px", isNumber: true, value: ({ retry_count }) => retry_count },
  {
    title: "Failed",
    width: "110px",
    value: ({ last_failed_at }) => last_failed_at,
    render: ({ last_failed_at }) => <Ago time={last_failed_at} />,
  },
];

/** Dead letters: what failed for good, and what to do about it. */
export default function DeadLetters() {
  const names = usePoolNames();
  const poolId = filterOf("pool") ?? [...names.keys()][0];
  return (
    <Page question="What failed for good, and should it run again?" title="Dead letters">
      <div class="filters">
        <select
          aria-label="Pool"
          class="select"
          onChange={(event) => setQuery({ pool: event.currentTarget.value })}
          value={poolId ?? ""}
        >
          {[...names].map(([id, name]) => (
            <option key={id} selected={id === poolId} value={id}>
              {name}
            </option>
          ))}
        </select>
        <ChoiceFilter
          choices={["failed", "retrying", "quarantined"].map((each) => [each, words(each)])}
          label="State"
          name="state"
        />
      </div>
      {poolId === undefined ? (
        <Empty title="No pool">Dead letters belong to pools, and there is none yet.</Empty>
      ) : (
        <PoolDeadLetters key={poolId} name={names.get(poolId) ?? "the pool"} poolId={poolId} />
      )}
    </Page>
  );
}

function PoolDeadLetters({ poolId, name }: { readonly poolId: string; readonly name: string }) {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const state = filterOf("state");
  const live = { live: ["queue.item.dead_lettered", "dead_letter."] };
  const stats = useQuery(`dead stats ${poolId}`, () => deadLetters.getStats({ pool_id: poolId }), live);
  const list = useList(
    `dead ${poolId} ${state}`,
    (page) => deadLetters.list({ ...page, pool_id: poolId, state } as Parameters<typeof deadLetters.list>[0]),
    live,
  );
  const refresh = () => {
    setKeys(new Set());
    list.refresh();
    stats.refresh();
  };
  return (
    <>
      <div class="stats">
        <Stat
          label="Dead letters"
          tone={Number(stats.data?.depth) > 0 ? "bad" : undefined}
          value={Number(stats.data?.depth ?? 0)}
        />
        <Stat label="Quarantined" value={Number(stats.data?.quarantined_count ?? 0)} />
        <Stat label="Out of retries" value={Number(stats.data?.exhausted_count ?? 0)} />
        <Stat label="Oldest failure" value={<Ago time={stats.data?.oldest_failure_at} />} />
      </div>
      {can("dlq:write") && (
        <BulkActions
          depth={Number(stats.data?.depth ?? 0)}
          keys={[...keys]}
          name={name}
          poolId={poolId}
          refresh={refresh}
        />
      )}
      <ListTable
        columns={columns}
        empty={
          <Empty title="No dead letter">
            Items come here when all their attempts failed, or when a worker said that no retry can help. Nothing has.
          </Empty>
        }
        hrefOf={({ queue_item_id }) => href(`queues/${poolId}`, { open: queue_item_id })}
        keyOf={({ queue_item_id }) => queue_item_id}
        label={`Dead letters of ${name}`}
        list={list}
        selection={can("dlq:write") ? { keys, set: setKeys } : undefined}
      />
    </>
  );
}

interface BulkProps {
  readonly poolId: string;
  readonly name: string;
  readonly keys: readonly string[];
  readonly depth: number;
  readonly refresh: () => void;
}

function BulkActions({ poolId, name, keys, depth, refresh }: BulkProps) {
  const [isRetryingMany, retryMany] = useState(false);
  const ids = { pool_id: poolId, queue_item_ids: keys };
  const act = (call: Promise<unknown>, done: string) => announce(call, done, refresh);
  const retryAll = () =>
    confirm({
      title: `Retry all dead letters of ${name}?`,
      consequence: `${formatCount(depth)} items return to the queue with new attempts. Those that are quarantined or out of retries stay.`,
      confirm: "Retry all",
      done: "The dead letters were put back on the queue.",
      act: () => deadLetters.retryAll({ pool_id: poolId }).then(refresh),
    });
  const purge = () =>
    confirm({
      title: `Purge the dead letters of ${name}?`,
      consequence: `${formatCount(depth)} items are deleted permanently, with their payloads. Quarantined ones stay.`,
      confirm: "Purge",
      typed: name,
      done: "The dead letters were deleted.",
      act: () => deadLetters.purge({ pool_id: poolId, older_than: new Date().toISOString() }).then(refresh),
    });
  return (
    <div class="actions">
      <Button
        disabled={keys.length === 0}
        onClick={() => act(deadLetters.retry(ids), "The items were put back on the queue.")}
        tone="primary"
      >
        Retry {keys.length > 0 ? keys.length : "selected"}
      </Button>
      <Button
        disabled={keys.length === 0}
        onClick={() => act(deadLetters.quarantine(ids), "The items are quarantined.")}
      >
        Quarantine
      </Button>
      <Button
        disabled={keys.length === 0}
        onClick={() => act(deadLetters.quarantine({ ...ids, release: true }), "The items were released.")}
      >
        Release
      </Button>
      <span class="spacer" />
      <Button disabled={depth === 0} onClick={() => retryMany(true)}>
        Retry by filter
      </Button>
      <Button disabled={depth === 0} onClick={retryAll}>
        Retry all
      </Button>
      {can("dlq:delete") && (
        <Button disabled={depth === 0} onClick={purge} tone="danger-text">
          Purge
        </Button>
      )}
      {isRetryingMany && (
        <BulkDialog
          change={deadLetterChange(poolId, name)}
          onClose={() => retryMany(false)}
          onStarted={({ id }) => navigate(href(`queues/${poolId}`, { tab: "bulk", operation: id }))}
        />
      )}
    </div>
  );
}
