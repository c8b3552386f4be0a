/** The values that templates and conditions can read. */
export type TemplateValues = {
  readonly subscriber: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly workflow_key: string;
  readonly transaction_id: string;
};
