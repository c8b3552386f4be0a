import {
  createBulkOperationService,
  type PreviewDeadLetterOperationRequest,
  type StartDeadLetterOperationRequest,
} from "@client/gen/bulk-operation";
import { transport } from "../../core/transport";
import type { Field } from "../../ui/form";
import { words } from "../../ui/format";
import type { BulkChange } from "../shared/bulk-dialog";

const operations = createBulkOperationService(transport);

const fields: readonly Field[] = [
  { name: "filter.reason_code", label: "Why they failed", placeholder: "max_attempts_exceeded", row: "why" },
  {
    name: "filter.phase",
    label: "Where they failed",
    kind: "choice",
    choices: ["work", "delivery", "lease", "expiry"].map((value) => ({ value, label: words(value) })),
    row: "why",
  },
  { name: "filter.type", label: "Type", row: "names" },
  { name: "filter.key", label: "Key", row: "names" },
  { name: "filter.failed_after", label: "Failed from", kind: "time", row: "failed" },
  { name: "filter.failed_before", label: "Failed before", kind: "time", row: "failed" },
];

/** The retry of the dead letters of a pool. */
export function deadLetterChange(poolId: string, poolName: string): BulkChange {
  return {
    title: `Retry many dead letters of ${poolName}`,
    fields,
    preview: ({ filter }) =>
      operations.previewDeadLetterOperation({ pool_id: poolId, filter } as PreviewDeadLetterOperationRequest),
    start: (values) =>
      operations.startDeadLetterOperation({ ...values, pool_id: poolId } as StartDeadLetterOperationRequest),
    confirm: () => "Retry dead letters",
    consequence: (_, items) =>
      `${items} of ${poolName} return to the queue with new attempts. Those that are quarantined or out of retries stay.`,
    typed: () => undefined,
  };
}
