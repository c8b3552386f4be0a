import {
  createBulkOperationService,
  type PreviewQueueOperationRequest,
  type StartQueueOperationRequest,
} from "@client/gen/bulk-operation";
import { transport } from "../../core/transport";
import type { Field, Values } from "../../ui/form";
import { words } from "../../ui/format";
import type { BulkChange } from "../shared/bulk-dialog";

const operations = createBulkOperationService(transport);

const fields: readonly Field[] = [
  {
    name: "action",
    label: "What to do",
    kind: "choice",
    required: true,
    choices: [
      { value: "cancel", label: "Cancel: they are not processed" },
      { value: "requeue", label: "Requeue: end their leases and waits" },
    ],
    row: "action",
  },
  {
    name: "state",
    label: "State",
    kind: "choice",
    choices: ["pending", "held", "ready", "leased"].map((value) => ({ value, label: words(value) })),
    hint: "All that are unfinished when empty.",
    row: "action",
  },
  { name: "filter.type", label: "Type", row: "names" },
  { name: "filter.key", label: "Key", row: "names" },
  { name: "filter.min_priority", label: "Priority from", kind: "number", row: "priority" },
  { name: "filter.max_priority", label: "Priority to", kind: "number", row: "priority" },
  { name: "filter.enqueued_after", label: "Queued from", kind: "time", row: "queued" },
  { name: "filter.enqueued_before", label: "Queued before", kind: "time", row: "queued" },
  {
    name: "filter.attributes",
    label: "Attributes",
    kind: "json",
    placeholder: `{ "language": "de" }`,
    hint: "All fields that are set must match.",
  },
];

/** The cancellation or requeueing of the items of a queue. */
export function queueChange(poolId: string, poolName: string): BulkChange {
  const requestOf = ({ state, filter, ...others }: Values) => ({
    ...others,
    pool_id: poolId,
    filter: { ...(filter as object), ...(state !== undefined && { states: [state] }) },
  });
  const isCancel = ({ action }: Values) => action === "cancel";
  return {
    title: `Change many items of ${poolName}`,
    fields,
    preview: ({ max_items, reason, ...values }) =>
      operations.previewQueueOperation(requestOf(values) as PreviewQueueOperationRequest),
    start: (values) => operations.startQueueOperation(requestOf(values) as StartQueueOperationRequest),
    confirm: (values) => (isCancel(values) ? "Cancel items" : "Requeue items"),
    consequence: (values, items) =>
      isCancel(values)
        ? `${items} of ${poolName} leave the queue and are not processed. Workers lose their leases. This cannot be undone.`
        : `The leases and waits of ${items} of ${poolName} end, and other workers can take them. No attempt is used up.`,
    typed: (values) => (isCancel(values) ? poolName : undefined),
  };
}
