/**
 * Admission: the constraints that a pool puts on its items.
 *
 * constraint: singleton, debounce, throttle or concurrency. key: a CEL expression that sorts items into groups.
 * group: all items of a constraint with the same key. verdict: whether an item may pass its constraints.
 * hand-out: leasing an item to a worker; throttle and concurrency apply at that moment.
 */

import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import { admissionHandlers } from "./admission-handler.ts";
import { createAdmissionRequests } from "./admission-request.ts";
import type { AdmissionParts } from "./admission-service.ts";
import { deleteIdleGroups } from "./admission-store.ts";

export { type AdmissionHandlers, admissionHandlers, fromConstraint } from "./admission-handler.ts";
export { type AdmissionRequest, createAdmissionRequests, type ItemGroups } from "./admission-request.ts";
export { readCollected, toCollection } from "./collected-store.ts";
export {
  admit,
  admitted,
  type Candidate,
  type ConstraintVerdict,
  canDisplace,
  createSkippedVerdict,
  createsNoItem,
  type Verdict,
} from "./domain/admission.ts";
export { createAdmissionBackoff } from "./domain/admission-backoff.ts";
export { type AdmissionKeys, createAdmissionKeys, type KeyedItem } from "./domain/admission-keys.ts";
export { type LeaseLimits, selectAdmissionRefs, selectLeaseRefs, toLeaseLimits } from "./domain/constraint-stage.ts";
export type { WindowExtension } from "./domain/constraints.ts";
export {
  type CollectedPayloads,
  type ConstraintKind,
  constraintKinds,
  createEmptyGroup,
  type GroupRef,
  type GroupState,
  groupKey,
  groupStatus,
  vacateGroup,
} from "./domain/group.ts";
export { releaseGroup } from "./domain/group-release.ts";
export {
  evaluateLease,
  groupsAfterLease,
  type LimitedItem,
  limitRefs,
  selectForLease,
} from "./domain/lease-limits.ts";
export { admitOptimistically } from "./domain/optimistic-admission.ts";
export {
  AdmissionConflict,
  claimPlaces,
  claimPlacesSql,
  type GroupMember,
  type GroupName,
  groupNamesOf,
  groupsOfHolders,
  insertMissingGroupsSql,
  isAdmissionConflict,
  isGroupFull,
  lockHolders,
  type OwnedGroup,
  readGroupStates,
  readGroups,
  retryOnConflict,
  saveGroups,
} from "./group-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock">, AdmissionParts {
  readonly platformTenantId: () => string;
}

/** Deletes admission groups that have been idle for a day. Keys are chosen by callers, so groups would grow without bound. */
export const deleteIdleGroupsJob = (dependencies: RetentionDependencies) =>
  retentionJob(dependencies, {
    ...{ kind: "admission.delete_idle_groups", everyMs: 600_000 },
    rows: [{ ageMs: 86_400_000, expire: deleteIdleGroups }],
  });

/** The module's public API. */
export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission({ db, clock, platformTenantId, ...parts }: Dependencies) {
  return {
    handlers: admissionHandlers(parts),
    jobs: [deleteIdleGroupsJob({ db, clock, platformTenantId })],
    /** The admission request of an item; undefined when no constraint applies. */
    requestOf: createAdmissionRequests(parts.keys),
  };
}
