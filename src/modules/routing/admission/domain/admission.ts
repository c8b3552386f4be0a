import { unreachable } from "../../../../errors/index.ts";
import type { AdmissionConfig } from "../../pools/index.ts";
import { admissionRefs } from "./constraint-moment.ts";
import { type Judgement, judge, type Ruling, remainingIn } from "./constraints.ts";
import { type ConstraintKind, type GroupRef, type GroupState, groupOf } from "./group.ts";

export type { AdmissionConfig } from "../../pools/index.ts";
export type { Ruling } from "./constraints.ts";
export {
  type ConstraintKind,
  constraintKinds,
  freshGroup,
  type GroupRef,
  type GroupState,
  type GroupStatus,
  groupKey,
  groupStatus,
} from "./group.ts";

/** An item that asks to be let in. */
export interface Candidate {
  readonly itemId: string;
  /** The groups that it falls into; a constraint without one does not concern it. */
  readonly refs: readonly GroupRef[];
  readonly config: AdmissionConfig;
  readonly nowMs: number;
}

/** What holds an item that was let in; empty for one that can be handed out. */
export type AdmissionHold = "" | "debounce";

/** What one constraint says; not_asked: another has decided before, or is to be waited for first. */
export interface ConstraintVerdict extends GroupRef {
  readonly ruling: Ruling | "not_asked";
  readonly notBeforeMs: number | undefined;
  /** How many places or tokens would be left; undefined where that is no number. */
  readonly remaining: number | undefined;
}

/** What becomes of an item. */
export interface Verdict {
  /** debounced: let in, and held until its window ends. */
  readonly status: "admitted" | "deduplicated" | "debounced" | "rejected";
  /** The constraint that decided; undefined for an item that just passes. */
  readonly constraint: ConstraintKind | undefined;
  /** When an item that is held goes on. */
  readonly dueAtMs: number | undefined;
  /** How long until it goes on, or until a rejected one would be let in. */
  readonly retryAfterMs: number | undefined;
  /** deduplicated: the item that has the place. */
  readonly existingItemId: string;
  /** Items that wait, and whose place this one takes: they are superseded, and this one is their survivor. */
  readonly supersedes: readonly string[];
  /** The item whose work is to be ended because this one takes its place; empty for none. */
  readonly cancels: string;
  readonly holdReason: AdmissionHold;
  /** What each constraint says, in the order in which they are asked. */
  readonly perConstraint: readonly ConstraintVerdict[];
}

/** A verdict, and the groups that it changes as they are then; keep them with the item, or drop both. */
export interface Admission {
  readonly verdict: Verdict;
  readonly next: readonly GroupState[];
}

/**
 * Evaluates an item against the groups as they are; a group that is not among them is a fresh one. Nothing is taken
 * here: the caller keeps `next` together with the item or drops it. All or nothing: an item that any constraint refuses
 * changes no group. What limits hand-out only is not asked here: see hand-out.ts.
 */
export function admit({ itemId, refs, config, nowMs }: Candidate, groups: ReadonlyMap<string, GroupState>): Admission {
  const subject = { itemId, nowMs, letIn: false };
  const perConstraint: ConstraintVerdict[] = [];
  const next: GroupState[] = [];
  const supersedes = new Set<string>();
  let cancels = "";
  let decided: { readonly kind: ConstraintKind; readonly judgement: Judgement } | undefined;

  for (const ref of admissionRefs(refs, config)) {
    if (decided !== undefined) {
      perConstraint.push(notAsked(ref));
      continue;
    }
    const { kind } = ref;
    const judgement = judge(kind, config, groupOf(groups, ref), subject)!;
    const { ruling, otherItemId, notBeforeMs } = judgement;
    const remaining = remainingIn(judgement.next, config, nowMs);
    perConstraint.push({ ...ref, ruling, notBeforeMs, remaining });
    next.push(judgement.next);
    if (ruling === "cancel_running") cancels = otherItemId;
    else if (ruling === "replace" || ruling === "debounce") supersedes.add(otherItemId);
    if (waitsOrRefused(ruling)) decided = { kind, judgement };
  }
  supersedes.delete("");

  const passes: Admission = {
    verdict: {
      status: "admitted",
      constraint: undefined,
      dueAtMs: undefined,
      retryAfterMs: undefined,
      existingItemId: "",
      supersedes: [...supersedes],
      cancels,
      holdReason: "",
      perConstraint,
    },
    next,
  };
  return decided === undefined ? passes : stopped(passes, decided.kind, decided.judgement, nowMs);
}

/** The verdict for an item that no constraint is asked about on its way in. */
export const admitted: Verdict = admit({ itemId: "", refs: [], config: {}, nowMs: 0 }, new Map()).verdict;

/** What a constraint says that is not asked. */
export function notAsked(ref: GroupRef): ConstraintVerdict {
  return { ...ref, ruling: "not_asked", notBeforeMs: undefined, remaining: undefined };
}

/** The groups that letting an item in looks at and may change. */
export function groupsToAdmit({ refs, config }: Pick<Candidate, "refs" | "config">): readonly GroupRef[] {
  return admissionRefs(refs, config);
}

/** Whether a constraint may give the place of one item to another; others only let in or hold back. */
export function displaces(kind: ConstraintKind, { singleton }: AdmissionConfig): boolean {
  return kind === "debounce" || (kind === "singleton" && singleton?.mode !== "skip");
}

function waitsOrRefused(ruling: Ruling): boolean {
  return ruling !== "admit" && ruling !== "replace" && ruling !== "cancel_running";
}

/** What becomes of an item that a constraint has wait, or refuses. */
function stopped({ verdict, next }: Admission, kind: ConstraintKind, judgement: Judgement, nowMs: number): Admission {
  const { ruling, notBeforeMs } = judgement;
  const retryAfterMs = notBeforeMs === undefined ? undefined : notBeforeMs - nowMs;
  const told = { ...verdict, constraint: kind, retryAfterMs };
  const refused = { ...told, supersedes: [], cancels: "" };
  switch (ruling) {
    case "debounce":
      return { verdict: { ...told, status: "debounced", dueAtMs: notBeforeMs, holdReason: "debounce" }, next };
    case "deduplicate":
      return { verdict: { ...refused, status: "deduplicated", existingItemId: judgement.otherItemId }, next: [] };
    case "reject":
      return { verdict: { ...refused, status: "rejected" }, next: [] };
    case "admit":
    case "hold":
    case "replace":
    case "cancel_running":
      return { verdict, next };
    default:
      return unreachable(ruling);
  }
}
