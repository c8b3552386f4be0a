import {
  type BulkOperation,
  createBulkOperationService,
  type ListBulkOperationsRequest,
} from "@client/gen/bulk-operation";
import { useState } from "preact/hooks";
import { useList, useQuery } from "../../core/query";
import { setQuery, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Meter } from "../../ui/card";
import { Dialog } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { formatCount, formatTime, words } from "../../ui/format";
import { Name, nameColumn } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable, Ready } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";
import { announce } from "../../ui/toast";
import { BulkDialog } from "../shared/bulk-dialog";
import { queueChange } from "./queue-change";

const operations = createBulkOperationService(transport);
const states = ["queued", "running", "completed", "cancelled", "failed"];

const isUnfinished = ({ state }: BulkOperation) => state === "queued" || state === "running";
const changedText = ({ changed_count, matched_count }: BulkOperation) =>
  `${formatCount(changed_count)} of ${formatCount(matched_count)}`;

const columns: readonly Column<BulkOperation>[] = [
  { title: "Operation", width: "130px", value: ({ action }) => words(action) },
  { title: "State", width: "120px", value: ({ state }) => state, render: ({ state }) => <Status of={state} /> },
  { title: "Changed", width: "130px", isNumber: true, value: changedText },
  { title: "Left as they were", width: "140px", isNumber: true, value: ({ skipped_count }) => skipped_count },
  { title: "Reason", value: ({ reason }) => reason || undefined },
  nameColumn({ title: "By", id: ({ created_by }) => created_by }),
  {
    title: "Started",
    width: "110px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
];

interface Props {
  readonly poolId: string;
  readonly poolName: string;
}

/** Changes of many items of a queue: what runs, how far it is, and what it did. */
export function BulkOperations({ poolId, poolName }: Props) {
  const [isStarting, start] = useState(false);
  const state = filterOf("status") as ListBulkOperationsRequest["state"];
  const opened = filterOf("operation");
  const list = useList(`bulk ${poolId} ${state}`, (page) => operations.list({ ...page, pool_id: poolId, state }), {
    everyMs: 3_000,
    live: ["queue.operation."],
  });
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={states.map((each) => [each, words(each)])} label="State" name="status" />
        <span class="spacer" />
        {can("queue:write") && (
          <Button icon="plus" onClick={() => start(true)}>
            Change many items
          </Button>
        )}
      </div>
      <ListTable
        columns={columns}
        empty={<NoOperation poolId={poolId} />}
        hrefOf={({ id }) => withQuery({ operation: id })}
        keyOf={({ id }) => id}
        label="Bulk operations"
        list={list}
      />
      {isStarting && (
        <BulkDialog
          change={queueChange(poolId, poolName)}
          onClose={() => start(false)}
          onStarted={({ id }) => {
            list.refresh();
            setQuery({ operation: id });
          }}
        />
      )}
      {opened !== undefined && (
        <OperationDrawer id={opened} onClose={() => setQuery({ operation: undefined })} refresh={list.refresh} />
      )}
    </>
  );
}

interface DrawerProps {
  readonly id: string;
  readonly refresh: () => void;
  readonly onClose: () => void;
}

function OperationDrawer({ id, refresh, onClose }: DrawerProps) {
  const operation = useQuery(`bulk operation ${id}`, () => operations.get({ operation_id: id }), {
    everyMs: 2_000,
    live: ["queue.operation."],
  });
  const stop = () =>
    announce(operations.cancel({ operation_id: id }), "It stops after the current batch.", () => {
      operation.refresh();
      refresh();
    });
  const canStop = operation.data !== undefined && isUnfinished(operation.data) && can("queue:write");
  return (
    <Dialog
      actions={
        canStop && (
          <Button onClick={stop} small tone="danger-text">
            Stop
          </Button>
        )
      }
      kind="drawer"
      onClose={onClose}
      title={operation.data ? `${words(operation.data.action)} many items` : "Bulk operation"}
    >
      <div class="dialog-body">
        <Ready query={operation}>{(data) => <OperationDetails operation={data} />}</Ready>
      </div>
    </Dialog>
  );
}

function OperationDetails({ operation }: { readonly operation: BulkOperation }) {
  const { changed_count, skipped_count, matched_count, item_filter, dead_letter_filter, error } = operation;
  const share = matched_count === 0 ? 1 : (changed_count + skipped_count) / matched_count;
  return (
    <>
      {error !== "" && <Notice tone="bad">{error}</Notice>}
      <section aria-label="Progress" class="field">
        <div class="filters">
          <strong class="number">{changedText(operation)} items changed</strong>
          <span class="spacer" />
          <Status of={operation.state} />
        </div>
        <Meter share={isUnfinished(operation) ? share : 1} tone={error === "" ? undefined : "bad"} />
      </section>
      <Facts
        of={{
          "Left as they were": skipped_count > 0 ? formatCount(skipped_count) : undefined,
          "At most": operation.max_items > 0 ? formatCount(operation.max_items) : undefined,
          Reason: operation.reason,
          "Started by": <Name id={operation.created_by} />,
          Started: formatTime(operation.created_at),
          Ended: operation.ended_at && formatTime(operation.ended_at),
          Id: <Id id={operation.id} />,
        }}
      />
      <h3>Which items</h3>
      <Filter of={item_filter ?? dead_letter_filter ?? {}} />
    </>
  );
}

/** The parts of a filter that are set. */
function Filter({ of: filter }: { readonly of: object }) {
  const parts = Object.entries(filter)
    .map(([name, value]) => [words(name), textOf(value)])
    .filter(([, text]) => text !== "");
  return parts.length === 0 ? <p class="soft">All of them.</p> : <Facts of={Object.fromEntries(parts)} />;
}

/** A value of a filter; empty if the filter does not use it. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, text]) => `${name} = ${text}`)
    .join(", ");
}

function NoOperation({ poolId }: { readonly poolId: string }) {
  return (
    <Empty
      samples={samplesOf({
        path: `/api/queues/${poolId}/bulk-operations`,
        body: { action: "cancel", filter: { type: "ticket" }, reason: "imported twice" },
        cli: `bulk-operation start ${poolId} --action cancel --filter '{"type": "ticket"}' --reason "imported twice"`,
        sdk: `bulkOperations.startQueueOperation({ pool_id: "${poolId}", action: "cancel", filter: { type: "ticket" }, reason: "imported twice" })`,
      })}
      title="No bulk operation"
    >
      Cancel or requeue all items that match a filter. The work is done in the background, and can be stopped. Choose{" "}
      <strong>Change many items</strong>, which counts them first.
    </Empty>
  );
}
