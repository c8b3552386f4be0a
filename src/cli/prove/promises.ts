import type { Invariant } from "./invariant.ts";
import { repeatedCalls } from "./invariants/call-invariants.ts";
import {
  capacities,
  concurrency,
  exclusiveLeases,
  fences,
  keptItems,
  singleCompletions,
  singleItems,
} from "./invariants/queue-invariants.ts";

/** A promise of the documentation, and how its histories are checked. */
export interface ServicePromise {
  readonly id: string;
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
];
