import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { SubscriberId } from "../../subscribers/index.ts";
import type { Layer, PreferenceSettings } from "./settings.ts";

/** A layer that belongs to a subscriber. */
export type OwnLayer = Extract<Layer, 3 | 4 | 5>;

/** What a row of a subscriber's counts for. */
export interface RowKeys {
  readonly layer: OwnLayer;
  /** Empty on layer 3. */
  readonly workflowKey: string;
  /** Empty but on layer 5. */
  readonly topicKey: string;
  /** Each once and in order; none but on layer 5. */
  readonly contextKeys: readonly string[];
}

/** A row of a subscriber's as decisions see it. */
export interface OwnRow extends RowKeys {
  readonly settings: PreferenceSettings;
}

/** A row of a subscriber's. */
export interface Preference extends OwnRow, Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly subscriberId: SubscriberId;
}

/** What layers 2 to 5 hold for one subscriber and one workflow. */
export interface Layers {
  readonly workflowKey: string;
  /** Layer 2. */
  readonly user: PreferenceSettings | undefined;
  /** Layers 3 to 5; rows that turn out not to matter may be among them. */
  readonly own: readonly OwnRow[];
}

/** The same for many subscribers. */
export interface SubscriberLayers {
  /** Those of one; of a subscriber that was not asked for, what counts for everybody. */
  of(subscriberId: string): Layers;
}

/** How many rows a subscriber may have. */
export const rowsMax = 1000;

/** Context keys as they are kept: each once and in order, so that the same set is always the same list. */
export function orderedKeys(contextKeys: readonly string[]): readonly string[] {
  return contextKeys.length < 2 ? contextKeys : [...new Set(contextKeys)].sort();
}

/** The rows of one decision by their layers, from the first; layer 1 and 2 are given. */
export function rowsOf(
  first: PreferenceSettings | undefined,
  second: PreferenceSettings | undefined,
  { workflowKey, own }: Layers,
  topicKey: string,
  contextKeys: readonly string[],
): (PreferenceSettings | undefined)[] {
  const rows = [first, second, undefined, undefined, undefined];
  for (const row of own) {
    if (row.layer === 3) rows[2] = row.settings;
    else if (row.workflowKey !== workflowKey) continue;
    else if (row.layer === 4) rows[3] = row.settings;
    else if (topicKey !== "" && row.topicKey === topicKey && areSame(row.contextKeys, contextKeys)) {
      rows[4] = row.settings;
    }
  }
  return rows;
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}
