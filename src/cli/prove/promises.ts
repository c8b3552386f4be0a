import type { ProofCase } from "../../modules/governance/index.ts";
import type { Invariant } from "./invariant.ts";
import { repeatedCalls } from "./invariants/call-invariants.ts";
import { separateTenants, singleArrivals, singleMessages, stickyVariants } from "./invariants/effect-invariants.ts";
import { orderedEvents } from "./invariants/event-invariants.ts";
import {
  capacities,
  concurrency,
  exclusiveLeases,
  fences,
  keptItems,
  singleCompletions,
  singleItems,
} from "./invariants/queue-invariants.ts";
import { gaplessPages, keptRuns, singleRecords, singleTasks, timers } from "./invariants/run-invariants.ts";

/** A promise of the documentation, and how its histories are checked. */
export interface ServicePromise {
  readonly id: ProofCase;
  readonly text: string;
  /** The page that makes it. */
  readonly document: string;
  readonly invariant: Invariant;
}

/** The promises, in the order of the report. */
export const promises: readonly ServicePromise[] = [
  {
    id: "kept",
    text: "Acknowledged items are never lost",
    document: "docs/architecture.md#state",
    invariant: keptItems,
  },
  {
    id: "effect-once",
    text: "A repeated call has its effect once",
    document: "docs/guides/first-steps.md",
    invariant: singleItems,
  },
  {
    id: "replayed-answer",
    text: "A repeated call gets the first answer",
    document: "docs/guides/first-steps.md",
    invariant: repeatedCalls,
  },
  {
    id: "leased-once",
    text: "An item is leased to one worker at a time",
    document: "docs/guides/route-your-first-item.md",
    invariant: exclusiveLeases,
  },
  {
    id: "completed-once",
    text: "An item is completed once",
    document: "docs/guides/route-your-first-item.md",
    invariant: singleCompletions,
  },
  {
    id: "fenced",
    text: "A worker that lost its lease changes nothing",
    document: "docs/guides/route-your-first-item.md",
    invariant: fences,
  },
  {
    id: "capacity",
    text: "A recipient never has more items than its capacity",
    document: "docs/guides/control-routing.md",
    invariant: capacities,
  },
  {
    id: "concurrency",
    text: "A group never has more leased items than its limit",
    document: "docs/guides/admission.md",
    invariant: concurrency,
  },
  {
    id: "runs-kept",
    text: "Acknowledged runs are never lost",
    document: "docs/architecture/workflows.md#the-life-of-a-workflow-run",
    invariant: keptRuns,
  },
  {
    id: "task-once",
    text: "A task of a run is completed once",
    document: "docs/guides/workflow-worker.md",
    invariant: singleTasks,
  },
  { id: "timers", text: "A timer never fires early", document: "docs/workflow-language.md", invariant: timers },
  {
    id: "records-kept",
    text: "Acknowledged records of streams are there once",
    document: "docs/guides/stream-data.md",
    invariant: singleRecords,
  },
  {
    id: "no-gaps",
    text: "A reader of a stream sees no gap",
    document: "docs/architecture/workflows.md#the-life-of-a-stream-record",
    invariant: gaplessPages,
  },
  {
    id: "events-ordered",
    text: "A follower gets published events once, in order",
    document: "docs/guides/events.md#follow",
    invariant: orderedEvents,
  },
  {
    id: "message-once",
    text: "A message is sent, and not twice",
    document: "docs/architecture/notifications.md#the-life-of-a-notification",
    invariant: singleMessages,
  },
  {
    id: "action-once",
    text: "A write is never sent twice to a provider",
    document: "docs/guides/call-an-action.md",
    invariant: singleArrivals,
  },
  {
    id: "sticky",
    text: "A unit keeps its variant on all nodes",
    document: "docs/guides/run-an-experiment.md",
    invariant: stickyVariants,
  },
  {
    id: "apart",
    text: "No tenant reads records of another",
    document: "docs/guides/first-steps.md",
    invariant: separateTenants,
  },
];
