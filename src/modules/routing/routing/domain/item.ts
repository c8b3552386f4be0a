/** An item as seen by decisions. The payload is excluded, so no rule can read it. */
export interface RoutableItem {
  readonly type: string;
  /** A grouping key; sticky routing assigns one key to one recipient. */
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly requirements: Requirements;
  readonly priority: number;
}

/** Requirements of an item for its recipient. Rules cannot lift them. */
export interface Requirements {
  /** Minimum level by skill name. */
  readonly skills: Readonly<Record<string, number>>;
  /** The only recipient allowed; empty for any. */
  readonly recipientId: string;
  readonly excludedRecipientIds: readonly string[];
}

/** The requirements of an item without any. */
export const noRequirements: Requirements = { skills: {}, recipientId: "", excludedRecipientIds: [] };
