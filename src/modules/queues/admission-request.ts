import type { Pool } from "../pools/index.ts";
import type { AdmissionAsked } from "./accept.ts";
import { type ConstraintKind, freshGroup, type GroupRef } from "./domain/admission.ts";
import type { AdmissionKeys, KeyedItem } from "./domain/admission-keys.ts";
import { admissionRefs, handOutRefs } from "./domain/constraint-moment.ts";

/** The pool whose constraints are asked. */
type ConstrainedPool = Pick<Pool, "tenantId" | "id" | "name" | "environmentId"> & {
  readonly config: Pick<Pool["config"], "admission">;
};

/** What an item of a pool has to pass on its way in and out of the queue; undefined when nothing constrains it. */
export function createAdmissionRequests(keys: AdmissionKeys) {
  return (pool: ConstrainedPool, item: KeyedItem): AdmissionAsked | undefined => {
    const all = keys.refsOf(pool, item);
    if (all.length === 0) return undefined;
    const { tenantId, id: poolId, environmentId, config } = pool;
    const refs = admissionRefs(all, config.admission);
    const limits = handOutRefs(all, config.admission);
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
        state: { ...freshGroup(ref), slots: slotsOf(config, ref) },
      })),
    };
  };
}

function slotsOf({ admission }: ConstrainedPool["config"], { kind }: GroupRef): number {
  return kind === "concurrency" ? (admission.concurrency?.limit ?? 0) : 0;
}

function groupsOf(refs: readonly GroupRef[]): AdmissionAsked["groups"] {
  const groups: Record<ConstraintKind, string> = { singleton: "", debounce: "", throttle: "", concurrency: "" };
  for (const { kind, groupId } of refs) groups[kind] = groupId;
  return groups;
}
