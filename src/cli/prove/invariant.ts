import type { EventKind, HistoryEvent } from "./history.ts";

/** What must be true of every history: a check of all events that are about the same subject. */
export interface Invariant {
  /** What an event is about; undefined if it says nothing about this invariant. */
  subjectOf(event: HistoryEvent): string | undefined;
  /** Why the events of one subject cannot all be right; undefined if they can. Leaving out an event never creates a reason. */
  contradictionIn(events: readonly HistoryEvent[]): string | undefined;
  /** How many of the events of one subject test it; all of them by default. */
  countTests?(events: readonly HistoryEvent[]): number;
  /** A number of an event whose largest value is reported. */
  readonly measure?: { readonly name: string; of(event: HistoryEvent): number };
}

/** Whether an event is of this kind and has one of these names. */
export function isEvent(event: HistoryEvent, kind: EventKind, ...names: readonly string[]): boolean {
  return event.kind === kind && names.includes(event.name);
}

/** A subject whose history breaks an invariant. */
export interface Violation {
  readonly subject: string;
  readonly reason: string;
  /** The smallest history that shows it: without any of these events, it would not. */
  readonly history: readonly HistoryEvent[];
  /** The faults that were injected meanwhile. */
  readonly faults: readonly HistoryEvent[];
}

/** What a history says about an invariant. */
export interface Verdict {
  /** The number of events that tested it. */
  readonly tested: number;
  /** The largest value of the measure. */
  readonly most: number;
  readonly violations: readonly Violation[];
}

/** Violations that are reported in full. */
const violationsMax = 5;
/** Faults before a violation that may have caused it, in milliseconds. */
const aftermathMs = 15_000;

/** Checks an invariant against a history. */
export function checkInvariant(invariant: Invariant, events: readonly HistoryEvent[]): Verdict {
  const bySubject = new Map<string, HistoryEvent[]>();
  let tested = 0;
  let most = 0;
  for (const event of events) {
    const subject = invariant.subjectOf(event);
    if (subject === undefined) continue;
    most = Math.max(most, invariant.measure?.of(event) ?? 0);
    const others = bySubject.get(subject);
    if (others === undefined) bySubject.set(subject, [event]);
    else others.push(event);
  }
  const violations: Violation[] = [];
  for (const about of bySubject.values()) tested += invariant.countTests?.(about) ?? about.length;
  for (const [subject, about] of bySubject) {
    if (violations.length === violationsMax) break;
    if (invariant.contradictionIn(about) === undefined) continue;
    const history = minimize(about, (some) => invariant.contradictionIn(some) !== undefined).toSorted(
      (one, other) => one.startMs - other.startMs,
    );
    violations.push({
      ...{ subject, history },
      reason: invariant.contradictionIn(history)!,
      faults: faultsDuring(history, events),
    });
  }
  return { tested, most, violations };
}

/** Leaves out events, first many at once and then one by one, as long as the rest still shows the same. */
function minimize(
  events: readonly HistoryEvent[],
  shows: (some: readonly HistoryEvent[]) => boolean,
): readonly HistoryEvent[] {
  let kept = [...events];
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length; ) {
      const fewer = kept.toSpliced(at, size);
      if (shows(fewer)) kept = fewer;
      else at += size;
    }
  }
  return kept;
}

function faultsDuring(history: readonly HistoryEvent[], events: readonly HistoryEvent[]): HistoryEvent[] {
  const fromMs = Math.min(...history.map(({ startMs }) => startMs)) - aftermathMs;
  const toMs = Math.max(...history.map(({ endMs }) => endMs));
  return events.filter(({ kind, startMs, endMs }) => kind === "fault" && startMs <= toMs && endMs >= fromMs);
}
