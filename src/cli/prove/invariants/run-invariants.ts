import type { HistoryEvent } from "../history.ts";
import { type Invariant, isEvent } from "../invariant.ts";
import { timerMs } from "../workloads/run-workload.ts";

/** Every run that was acknowledged succeeds in the end. */
export const keptRuns: Invariant = {
  subjectOf: (event) =>
    isEvent(event, "acknowledged", "start run") || isEvent(event, "observed", "run") ? event.subject : undefined,
  contradictionIn(events) {
    const start = events.find(({ kind }) => kind === "acknowledged");
    const end = events.find(({ kind, facts }) => kind === "observed" && facts.run === start?.facts.run);
    if (start === undefined || end === undefined || end.facts.status === "succeeded") return undefined;
    return `The run was acknowledged, and is ${end.facts.status} in the end.`;
  },
};

/** A step of a run accepts the report of one attempt. */
export const singleTasks: Invariant = {
  subjectOf: (event) => (isEvent(event, "acknowledged", "complete task") ? event.subject : undefined),
  contradictionIn(events) {
    const attempts = distinct(events, "attempt");
    return attempts > 1 ? `The task was completed by ${attempts} attempts.` : undefined;
  },
};

/** A timer waits at least as long as it says. */
export const timers: Invariant = {
  subjectOf: (event) => (isEvent(event, "observed", "timer") ? event.subject : undefined),
  contradictionIn: (events) =>
    events.some(({ startMs, endMs }) => endMs - startMs < timerMs)
      ? `The timer of ${timerMs} ms fired before its time.`
      : undefined,
  measure: { name: "latest after ms", of: ({ facts }) => Number(facts["late ms"]) },
};

/** Every record that was acknowledged is read, at one place. */
export const singleRecords: Invariant = {
  subjectOf: (event) =>
    isEvent(event, "acknowledged", "append") || isEvent(event, "observed", "record") ? event.subject : undefined,
  contradictionIn(events) {
    const isAcknowledged = events.some(({ kind }) => kind === "acknowledged");
    const isAbsent = events.some(({ kind, facts }) => kind === "observed" && facts.sequence === 0);
    if (isAcknowledged && isAbsent) return "The record was acknowledged, and is not there.";
    const places = distinct(
      events.filter(({ facts }) => facts.sequence !== 0),
      "sequence",
    );
    return places > 1 ? `The record has ${places} places.` : undefined;
  },
};

/** Every page of a stream begins after the cursor and has all sequences to its end. */
export const gaplessPages: Invariant = {
  subjectOf: (event) => (isEvent(event, "observed", "page") ? event.subject : undefined),
  contradictionIn(events) {
    const broken = events.find(({ facts }) => {
      const { after, first, last, records } = facts as Record<string, number>;
      return first !== after! + 1 || last! - first! + 1 !== records;
    });
    return broken && "The page leaves out records.";
  },
};

function distinct(events: readonly HistoryEvent[], fact: string): number {
  return new Set(events.map(({ facts }) => facts[fact])).size;
}
