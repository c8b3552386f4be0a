import type { Context } from "../chain/call.ts";

/** The kinds of records that can be explained. */
export type ExplainedKind =
  | "decision"
  | "queue_item"
  | "notification_delivery"
  | "notification_run"
  | "webhook_delivery"
  | "workflow_run"
  | "connector_execution";

/** Something that happened. */
export interface ExplainedStep {
  readonly at?: Date | undefined;
  /** A stable code. */
  readonly code: string;
  /** Absent for the record itself. */
  readonly subject?: string;
  readonly message: string;
  /** What came of it, if the code does not say so. */
  readonly result?: string;
  /** The values that decided it, such as those that a rule read. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
}

/** Something that is waited for. */
export interface ExplainedWait {
  /** A stable code. */
  readonly code: string;
  readonly message: string;
  /** How the wait can end. */
  readonly remedy: string;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** A related record. */
export interface ExplainedLink {
  /** Its role, such as `pool`. */
  readonly relation: string;
  readonly id: string;
  /** The path of the operation that reads it. */
  readonly path: string;
  /** Whether it can be explained as well. */
  readonly explainable?: boolean;
}

/** History of a record, its causes, and current waits. */
export interface RecordExplanation {
  readonly status: string;
  /** In a few sentences. */
  readonly summary: string;
  /** In order. */
  readonly steps: readonly ExplainedStep[];
  readonly waits: readonly ExplainedWait[];
  readonly remedies: readonly string[];
  readonly links: readonly ExplainedLink[];
}

/** A question about a record. */
export interface Question {
  readonly id: string;
  /** The subject of the question, such as a recipient; empty for none. */
  readonly about: string;
}

/** Explains the records of one kind. The area that owns them implements it, from its stored data. */
export interface Explainer {
  readonly kind: ExplainedKind;
  /** The scope that reads records of this kind. Callers without it do not learn that a record exists. */
  readonly scope: string;
  /** Undefined if the caller's tenant has no such record. */
  explain(context: Context, question: Question): Promise<RecordExplanation | undefined>;
}

/** A link, unless the record has none. */
export function linkTo(relation: string, id: string, path: string, explainable = false): readonly ExplainedLink[] {
  return id === "" ? [] : [{ relation, id, path, explainable }];
}
