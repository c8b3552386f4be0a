import { createDeadLetterService } from "@client/gen/dead-letter";
import { useState } from "preact/hooks";
import { environmentFilter } from "../../core/environments";
import { useQuery } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Stat } from "../../ui/card";
import { Empty } from "../../ui/empty";
import { words } from "../../ui/format";
import { Name, nameText, proseColumn } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable, Page, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { AllEnvironments } from "../shared/environment";
import { PoolFilter } from "../shared/pool-filter";
import { LetterActions } from "./letter-actions";
import {
  allPools,
  type Letter,
  type LetterKind,
  type LetterState,
  otherStates,
  readableKinds,
  useLetters,
} from "./letters";

const deadLetters = createDeadLetterService(transport);
const kindNames: Readonly<Record<LetterKind, string>> = { item: "Items", run: "Workflow runs", message: "Messages" };
const keyOf = ({ kind, poolId, id }: Letter) => `${kind} ${poolId} ${id}`;

const columns: readonly Column<Letter>[] = [
  {
    title: "What",
    value: ({ record }) => nameText(record.id, record.kind),
    render: ({ record }) => <Name id={record.id} kind={record.kind} plain />,
  },
  { title: "Kind", width: "90px", value: ({ kind }) => words(kind) },
  {
    title: "From",
    width: "150px",
    value: ({ kind, poolId, source }) => (kind === "item" ? nameText(poolId, "pool") : source),
    render: ({ kind, poolId, source }) =>
      kind === "item" ? <Name id={poolId} kind="pool" /> : kind === "message" ? words(source) : source,
  },
  { title: "State", width: "110px", value: ({ state }) => state, render: ({ state }) => <Status of={state} /> },
  { title: "Why", width: "150px", value: ({ code }) => words(code) },
  proseColumn("Last error", ({ detail }) => detail),
  { title: "Retries", width: "84px", isNumber: true, value: ({ retries }) => retries },
  {
    title: "Failed",
    width: "110px",
    value: ({ failedAt }) => failedAt,
    render: ({ failedAt }) => <Ago time={failedAt} />,
  },
];

/** Dead letters of all pools, workflows and notifications: what failed for good, and what to do about it. */
export default function DeadLetters() {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const poolId = filterOf("pool") ?? allPools;
  // A pool has only items.
  const kind = poolId === allPools ? (filterOf("kind") as LetterKind | undefined) : "item";
  const state = (filterOf("state") as LetterState | undefined) ?? "failed";
  const list = useLetters({ kind, poolId, state, errorCode: filterOf("code") });
  const stats = useQuery(
    can("dlq:read") ? `dead stats ${poolId} ${environmentFilter().environment_id}` : undefined,
    () => deadLetters.getStats({ pool_id: poolId, ...environmentFilter() }),
    { live: ["queue.item.dead_lettered", "dead_letter."] },
  );
  const refresh = () => {
    setKeys(new Set());
    list.refresh();
    stats.refresh();
  };
  const selected = list.rows.filter((letter) => keys.has(keyOf(letter)));
  return (
    <Page question="What failed for good, and should it run again?" title="Dead letters">
      <div class="filters">
        {poolId === allPools && (
          <ChoiceFilter choices={readableKinds().map((each) => [each, kindNames[each]])} label="Kind" name="kind" />
        )}
        {(kind === undefined || kind === "item") && <PoolFilter />}
        <ChoiceFilter
          choices={otherStates.map((each) => [each, words(each)])}
          label="State"
          name="state"
          none="failed"
        />
        {kind === "run" && <TextFilter label="Error code" name="code" />}
      </div>
      {stats.data && (kind === undefined || kind === "item") && (
        <div class="stats">
          <Stat
            label="Failed items"
            tone={Number(stats.data.depth) > 0 ? "bad" : undefined}
            value={Number(stats.data.depth)}
          />
          <Stat label="Quarantined items" value={Number(stats.data.quarantined_count)} />
          <Stat label="Items out of retries" value={Number(stats.data.exhausted_count)} />
          <Stat label="Oldest failed item" value={<Ago time={stats.data.oldest_failure_at} />} />
        </div>
      )}
      <LetterActions
        depth={Number(stats.data?.depth ?? 0)}
        kind={kind}
        poolId={poolId === allPools ? undefined : poolId}
        refresh={refresh}
        selected={selected}
      />
      {(kind === undefined || kind === "message") && poolId === allPools && <AllEnvironments of="Messages" />}
      <ListTable
        columns={columns}
        empty={
          <Empty title="No dead letter">
            Items, workflow runs and messages come here when all their attempts failed, or when no retry can help.
            Nothing has.
          </Empty>
        }
        hrefOf={placeOf}
        keyOf={keyOf}
        label="Dead letters"
        list={list}
        selection={{ keys, set: setKeys }}
      />
    </Page>
  );
}

function placeOf({ kind, poolId, id, record }: Letter): string {
  if (kind === "item") return href(`queues/${poolId}`, { open: id });
  return kind === "run" ? href(`workflows/runs/${id}`) : href("notifications", { open: record.id });
}
