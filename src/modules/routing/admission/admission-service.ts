import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { PoolReader } from "../pools/index.ts";
import { admissionStore, type GroupRecord } from "./admission-store.ts";
import { readCollected } from "./collected-store.ts";
import type { AdmissionKeys, KeyedItem } from "./domain/admission-keys.ts";
import { type Preview, preview } from "./domain/admission-preview.ts";
import { type GroupRef, groupKey } from "./domain/group.ts";
import { readGroupStates } from "./group-store.ts";

export interface AdmissionParts {
  readonly pools: Pick<PoolReader, "requirePool">;
  readonly events: EventRecorder;
  readonly keys: AdmissionKeys;
  /** Resumes the pool's due items immediately; called after the commit. */
  readonly wake: (tenantId: TenantId, poolId: string) => void;
}

/** Inputs of a preview besides the groups of the item. */
export interface PreviewOptions {
  readonly payloadBytes: number;
  readonly notBeforeMs: number | undefined;
  /** Whether the item waits for other items. */
  readonly waits: boolean;
}

export type AdmissionService = ReturnType<typeof createAdmissionService>;

export function createAdmissionService({ pools, events, keys, wake }: AdmissionParts) {
  async function getGroup(context: Context, poolId: string, ref: GroupRef): Promise<GroupRecord> {
    await pools.requirePool(context, poolId);
    const group = await admissionStore(context.sql).find(context.tenantId, ref);
    if (group?.poolId !== poolId) throw notFound("admission group");
    return group;
  }

  return {
    getGroup,

    /** Evaluates the constraints for an item that is not stored. Groups are read without a lock and stay unchanged. */
    async previewAdmission(
      context: Context,
      poolId: string,
      item: KeyedItem,
      { payloadBytes, notBeforeMs = 0, waits }: PreviewOptions,
    ): Promise<Preview> {
      const { sql, tenantId, nowMs } = context;
      const { pool } = await pools.requirePool(context, poolId);
      const refs = keys.refsOf(pool, item);
      const groups = new Map(await readGroupStates(sql, tenantId, refs));
      if (pool.config.admission.debounce?.take === "all") {
        const held = [...groups.values()].map((state) => ({ tenantId, state }));
        for (const state of await readCollected(sql, held)) groups.set(groupKey(state), state);
      }
      const candidate = { itemId: ulid(nowMs), refs, config: pool.config.admission, nowMs, payloadBytes };
      return preview(candidate, groups, waits || notBeforeMs > nowMs);
    },

    /** Resets a group. Items that it holds back proceed; admitted items are not affected. */
    async clearGroup(context: Context, poolId: string, ref: GroupRef, reason: string): Promise<GroupRecord> {
      const { sql, tenantId, nowMs, principal } = context;
      const store = admissionStore(sql);
      // Lock before reading, so that a concurrent admission completes first.
      await store.lock(tenantId, ref);
      const { itemId } = await getGroup(context, poolId, ref);
      if (ref.kind === "concurrency") {
        throw fail("FAILED_PRECONDITION", {
          public: "A concurrency group cannot be cleared: its slots are released when its items end.",
        });
      }
      const now = new Date(nowMs);
      await store.clear(tenantId, ref, { by: principal.subject, reason, at: now });
      if (ref.kind === "debounce" && itemId !== "") await store.endWindow(tenantId, ref, itemId, now);
      if (ref.kind === "throttle") await store.endThrottling(tenantId, ref);
      const data = { pool_id: poolId, constraint_kind: ref.kind, reason };
      await events.record(context, "admission.group.cleared", ref.groupId, data);
      context.afterCommit(() => wake(tenantId, poolId));
      return getGroup(context, poolId, ref);
    },
  };
}
