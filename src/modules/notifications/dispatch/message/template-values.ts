import type { DigestValues } from "../domain/run.ts";

/** The values that templates and conditions can read. */
export type TemplateValues = {
  readonly subscriber: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly workflow_key: string;
  readonly transaction_id: string;
  /** The key of the step that sends the message, if the workflow has steps. */
  readonly step?: string;
  /** The triggers that a digest collected, if there was one. */
  readonly digest?: DigestValues;
};
