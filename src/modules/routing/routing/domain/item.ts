/** An item of work as decisions see it: its payload is left out, so that no rule can look at it. */
export interface RoutableItem {
  readonly type: string;
  /** What it belongs to; sticky routing keeps one key with one recipient. */
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly requirements: Requirements;
  readonly priority: number;
}

/** What an item asks of whoever takes it. Nothing in a pool's rules lifts it. */
export interface Requirements {
  /** Skills by name, with the least level of each. */
  readonly skills: Readonly<Record<string, number>>;
  /** The one recipient that may take it; empty for anyone. */
  readonly recipientId: string;
  readonly excludedRecipientIds: readonly string[];
}

/** The requirements of an item that has none. */
export const noRequirements: Requirements = { skills: {}, recipientId: "", excludedRecipientIds: [] };
