import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { SubscriberId } from "../../subscribers/index.ts";
import type { Layer, PreferenceSettings } from "./settings.ts";

/** A layer that belongs to a subscriber. */
export type OwnLayer = Extract<Layer, 3 | 4 | 5>;

/** The scope of a subscriber's preference row. */
export interface RowKeys {
  readonly layer: OwnLayer;
  /** Empty on layer 3. */
  readonly workflowKey: string;
  /** Empty except on layer 5. */
  readonly topicKey: string;
  /** Sorted and without duplicates; empty except on layer 5. */
  readonly contextKeys: readonly string[];
}

/** A subscriber's preference row as decisions use it. */
export interface OwnRow extends RowKeys {
  readonly settings: PreferenceSettings;
}

/** A stored preference row of a subscriber. */
export interface Preference extends OwnRow, Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly subscriberId: SubscriberId;
}

/** Layers 2 to 5 for one subscriber and one workflow. */
export interface Layers {
  readonly workflowKey: string;
  /** Layer 2. */
  readonly user: PreferenceSettings | undefined;
  /** Layers 3 to 5; may include rows that do not apply. */
  readonly own: readonly OwnRow[];
}

/** Layers 2 to 5 for many subscribers. */
export interface SubscriberLayers {
  /** The layers of one subscriber; for a subscriber that was not requested, only the shared ones. */
  of(subscriberId: string): Layers;
}

/** The maximum number of preference rows per subscriber. */
export const rowsMax = 1000;

/** Normalizes context keys: sorted and without duplicates, so that equal sets are equal lists. */
export function orderedKeys(contextKeys: readonly string[]): readonly string[] {
  return contextKeys.length < 2 ? contextKeys : [...new Set(contextKeys)].sort();
}

/** The rows of one decision in layer order; the rows of layers 1 and 2 are given. */
export function layerRows(
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
