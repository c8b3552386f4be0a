import type { ItemHealth, RunHealth, TaskHealth } from "../../../health-source.ts";
import { ruleset } from "./ruleset.ts";

/** A heartbeat of a source on a node, or the state of a dependency as a node saw it. */
export interface NodeObservation {
  readonly kind: "source" | "dependency";
  readonly name: string;
  readonly state: string;
  /** Milliseconds since it was stored, by the clock of the database. */
  readonly ageMs: number;
  /** How far the clock of the node was ahead of the clock of the database. */
  readonly skewMs: number;
}

/** How current a source is, from all nodes. */
export interface SourceObservation {
  readonly name: string;
  /** Undefined if no node has ever reported. */
  readonly ageMs: number | undefined;
  /** The largest difference of a clock, in either direction. */
  readonly skewMs: number;
}

/** The state of a dependency, from all nodes. */
export interface DependencyObservation {
  readonly name: string;
  /** Undefined if no node has ever reported. */
  readonly ageMs: number | undefined;
  /** The worst state that a node has seen recently. */
  readonly state: string;
}

/** Everything that a verdict is computed from. A source that could not be read is undefined. */
export interface Observation {
  readonly sources: readonly SourceObservation[];
  readonly dependencies: readonly DependencyObservation[];
  readonly runs: RunHealth | undefined;
  readonly tasks: TaskHealth | undefined;
  readonly items: ItemHealth | undefined;
}

const telemetryMsMax = ruleset.signals.telemetry_age.unknownAbove * 1000;
const snapshotMsMax = ruleset.signals.dependency_snapshot_age.unknownAbove * 1000;

/** Combines what the nodes have seen of the sources. The clock of every node counts as long as its heartbeats are current. */
export function combineSources(observations: readonly NodeObservation[]): SourceObservation[] {
  return ruleset.sources.map((name) => {
    const { ageMs, seen } = newestOf(observations, "source", name);
    const current = seen.filter((each) => each.ageMs <= telemetryMsMax);
    const counted = current.length > 0 ? current : seen;
    return { name, ageMs, skewMs: Math.max(0, ...counted.map(deviationOf)) };
  });
}

/** How far a clock is off. A heartbeat from the future shows that the clock of the database has moved back. */
function deviationOf({ skewMs, ageMs }: NodeObservation): number {
  return Math.max(Math.abs(skewMs), -ageMs);
}

/** Combines what the nodes have seen of the dependencies. The worst recent state counts. */
export function combineDependencies(observations: readonly NodeObservation[]): DependencyObservation[] {
  return ruleset.dependencies.map((name) => {
    const { ageMs, seen } = newestOf(observations, "dependency", name);
    const states = seen.filter((each) => each.ageMs <= snapshotMsMax).map(({ state }) => state);
    const worst = states.find((state) => !isKnown(state)) ?? states.find(isUnusable) ?? states[0];
    return { name, ageMs, state: worst ?? seen[0]?.state ?? "" };
  });
}

/** Whether the ruleset classifies a state of a dependency. */
export function isKnown(state: string): boolean {
  return Object.hasOwn(ruleset.states.dependency, state);
}

/** Whether a dependency in this state cannot be used. */
export function isUnusable(state: string): boolean {
  return classOf(ruleset.states.dependency, state) === "unusable";
}

/** The class of a state; undefined if the ruleset does not classify it. */
export function classOf(classes: Readonly<Record<string, string>>, state: string): string | undefined {
  return Object.hasOwn(classes, state) ? classes[state] : undefined;
}

function newestOf(observations: readonly NodeObservation[], kind: NodeObservation["kind"], name: string) {
  const seen = observations
    .filter((each) => each.kind === kind && each.name === name)
    .toSorted((a, b) => a.ageMs - b.ageMs);
  return { ageMs: seen[0]?.ageMs, seen };
}
