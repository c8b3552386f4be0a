/** What templates and conditions know. */
export type TemplateValues = {
  readonly subscriber: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly workflow_key: string;
  readonly transaction_id: string;
};
