import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AdmissionService as Rpc } from "../../../../gen/service/api/admission_pb.ts";
import type { RouteItem } from "../../../../gen/service/api/routing_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { environmentIdOf } from "../../../platform/access/index.ts";
import { dateOf } from "../../../platform/records/index.ts";
import { type AdmissionParts, createAdmissionService } from "./admission-service.ts";
import { admissionStore, type GroupRecord, groupPosition } from "./admission-store.ts";
import type { ConstraintVerdict } from "./domain/admission.ts";
import type { KeyedItem } from "./domain/admission-keys.ts";
import type { Preview } from "./domain/admission-preview.ts";
import { type ConstraintKind, type GroupStatus, groupStatus } from "./domain/group.ts";

/** AdmissionService without ExplainAdmission, which the queue implements. */
export type AdmissionHandlers = Omit<Handlers<typeof Rpc>, "explainAdmission">;

export function admissionHandlers(parts: AdmissionParts): AdmissionHandlers {
  const service = createAdmissionService(parts);
  return {
    async previewAdmission(context, { poolId, item }) {
      if (item!.poolId !== "" && item!.poolId !== poolId) {
        throw invalid("item.pool_id", "pool", "must equal the pool_id of the path, or be absent");
      }
      const notBeforeMs = item!.notBefore && dateOf(item!.notBefore).getTime();
      const verdict = await service.previewAdmission(context, poolId, toKeyedItem(item!), {
        payloadBytes: Buffer.byteLength(JSON.stringify(item!.payload ?? {})),
        notBeforeMs,
        waits: item!.after.length > 0,
      });
      return { preview: fromPreview(verdict, notBeforeMs) };
    },

    async listAdmissionGroups(context, request) {
      const { sql, tenantId, principal, nowMs } = context;
      const { poolId } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const { environmentMode } = principal;
      const kind = request.constraintKind as ConstraintKind | "";
      const status = request.status as GroupStatus | "";
      const filter = { environmentMode, environmentId, poolId, kind, status, now: new Date(nowMs) };
      const page = await context.page(
        "groups",
        request,
        [environmentMode, environmentId, poolId, kind, status],
        (wanted) => admissionStore(sql).list(tenantId, filter, wanted),
        groupPosition,
      );
      return { ...page, groups: page.groups.map((group) => fromGroup(group, nowMs)) };
    },

    async getAdmissionGroup(context, { poolId, constraintKind, groupId }) {
      const group = await service.getGroup(context, poolId, { kind: constraintKind as ConstraintKind, groupId });
      return { group: fromGroup(group, context.nowMs) };
    },

    async clearAdmissionGroup(context, { poolId, constraintKind, groupId, reason }) {
      const ref = { kind: constraintKind as ConstraintKind, groupId };
      const group = await service.clearGroup(context, poolId, ref, reason);
      return { group: fromGroup(group, context.nowMs) };
    },
  };
}

function toKeyedItem({ type, key, attributes, requirements, priority }: RouteItem): KeyedItem {
  const { skills = {}, recipientId = "", excludedRecipientIds = [] } = requirements ?? {};
  return {
    type,
    key,
    attributes: attributes ?? {},
    requirements: { skills, recipientId, excludedRecipientIds },
    priority,
  };
}

function fromPreview(verdict: Preview, notBeforeMs = 0) {
  const { status, constraint = "", dueAtMs = 0, retryAfterMs = 0 } = verdict;
  const proceedsAtMs = Math.max(dueAtMs, notBeforeMs);
  return {
    status,
    constraintKind: constraint,
    retryAfterS: retryAfterMs / 1000,
    notBefore: proceedsAtMs === 0 ? undefined : timestampFromMs(proceedsAtMs),
    verdicts: verdict.perConstraint.map(fromConstraint),
    existingQueueItemId: verdict.existingItemId,
    supersededQueueItemIds: verdict.supersedes,
    cancelledQueueItemId: verdict.cancels,
  };
}

export const fromConstraint = ({ kind, groupId, ruling, notBeforeMs, remaining }: ConstraintVerdict) => ({
  constraintKind: kind,
  groupId,
  verdict: ruling,
  notBefore: notBeforeMs === undefined ? undefined : timestampFromMs(notBeforeMs),
  remaining,
});

const fromGroup = (group: GroupRecord, nowMs: number) => ({
  ...group,
  constraintKind: group.kind,
  status: statusOf(group, nowMs),
  queueItemId: group.itemId,
  limit: group.slots,
  ...(group.kind === "singleton" && { limit: 1, inUse: Number(group.itemId !== "") }),
});

function statusOf({ since, until, clearedAt, ...group }: GroupRecord, nowMs: number): GroupStatus {
  const times = { sinceMs: since?.getTime(), untilMs: until?.getTime(), clearedAtMs: clearedAt?.getTime() };
  return groupStatus({ ...group, ...times, itemStarted: false }, nowMs);
}
