import type { AdmissionConfig } from "../pools/index.ts";
import type { AdmissionKeys, KeyedItem, KeyedPool } from "./domain/admission-keys.ts";
import { selectAdmissionRefs, selectLeaseRefs } from "./domain/constraint-stage.ts";
import { type ConstraintKind, createEmptyGroup, type GroupRef } from "./domain/group.ts";
import type { OwnedGroup } from "./group-store.ts";

/** The group of an item for each kind of constraint; empty where the item has none. */
export type ItemGroups = Readonly<Record<ConstraintKind, string>>;

/** The constraints that an item must pass when it is accepted, and later when it is handed out. */
export interface AdmissionRequest {
  readonly config: AdmissionConfig;
  /** The groups that are checked when the item is accepted. */
  readonly refs: readonly GroupRef[];
  /** The groups that the item belongs to in the queue. A token taken at acceptance is not taken again at hand-out. */
  readonly groups: ItemGroups;
  /** The groups that limit how many items are handed out. */
  readonly limitGroups: readonly OwnedGroup[];
  readonly environmentId: string;
}

/** Creates a function that returns an item's admission request; undefined when no constraint applies. */
export function createAdmissionRequests(keys: AdmissionKeys) {
  return (pool: KeyedPool, item: KeyedItem): AdmissionRequest | undefined => {
    const all = keys.refsOf(pool, item);
    if (all.length === 0) return undefined;
    const { tenantId, id: poolId, environmentId, config } = pool;
    const refs = selectAdmissionRefs(all, config.admission);
    const limits = selectLeaseRefs(all, config.admission);
    return {
      config: config.admission,
      refs,
      environmentId,
      groups: groupsOf([...refs.filter(({ kind }) => kind !== "throttle"), ...limits]),
      limitGroups: limits.map((ref) => ({
        tenantId,
        environmentId,
        poolId,
        ...ref,
        stored: false,
        state: {
          ...createEmptyGroup(ref),
          slots: ref.kind === "concurrency" ? (config.admission.concurrency?.limit ?? 0) : 0,
        },
      })),
    };
  };
}

function groupsOf(refs: readonly GroupRef[]): ItemGroups {
  const groups: Record<ConstraintKind, string> = { singleton: "", debounce: "", throttle: "", concurrency: "" };
  for (const { kind, groupId } of refs) groups[kind] = groupId;
  return groups;
}
