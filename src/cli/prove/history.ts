/**
 * The history of a proof: what callers asked for and got, what was read at the end, and what was broken meanwhile.
 *
 * An event only says what is certain to have happened, so no event becomes wrong when others are left out.
 */

/** A value of an event, to compare and to print. */
export type Fact = string | number | boolean;

/** What kind of event it is. */
export type EventKind = "acknowledged" | "refused" | "held" | "observed" | "fault";

/** Something that happened, in milliseconds since the start of the run. */
export interface HistoryEvent {
  readonly kind: EventKind;
  /** The operation or the fault, for example `route` or `kill`. */
  readonly name: string;
  /** What it is about, for example the key of an item. */
  readonly subject: string;
  /** When the first attempt was sent. */
  readonly startMs: number;
  /** When the answer had arrived. */
  readonly endMs: number;
  /** The number of the node that answered. */
  readonly node?: number | undefined;
  readonly facts: Readonly<Record<string, Fact>>;
}

/** Collects the events of a round. */
export interface History {
  readonly events: readonly HistoryEvent[];
  /** The time of the run. */
  now(): number;
  record(event: HistoryEvent): void;
}

/** Creates a history whose times count from the same start. */
export function createHistory(startedAtMs: number, onEvent: (event: HistoryEvent) => void = () => {}): History {
  const events: HistoryEvent[] = [];
  return {
    events,
    now: () => performance.now() - startedAtMs,
    record(event) {
      events.push(event);
      onEvent(event);
    },
  };
}

/** An event as a line of text. */
export function formatEvent({ kind, name, startMs, endMs, node, facts, subject }: HistoryEvent): string {
  const times = endMs - startMs < 1 ? seconds(startMs) : `${seconds(startMs)} to ${seconds(endMs)}`;
  const details = Object.entries(facts).map(([key, value]) => `${key} ${value}`);
  const where = node === undefined ? [] : [`node ${node}`];
  return `${times}  ${kind} ${name} ${subject}: ${[...details, ...where].join(", ")}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}
