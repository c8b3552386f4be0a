import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AdmissionService,
  ClearAdmissionGroupRequestSchema,
  ExplainAdmissionRequestSchema,
  GetAdmissionGroupRequestSchema,
  ListAdmissionGroupsRequestSchema,
  PreviewAdmissionRequestSchema,
} from "../../../../../gen/service/api/admission_pb.ts";
import { type ContextChoice, freshTenant, perform, recordedEvents } from "../../../../../test/harness/context.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { fail } from "../../../../errors/index.ts";
import { mayUseEnvironment, type TenantId } from "../../../../platform/access/index.ts";
import { type Database, notFound } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import {
  type AdmissionRequest,
  admissionHandlers,
  admitted,
  createAdmissionKeys,
  createAdmissionRequests,
  type GroupRef,
  type KeyedItem,
  toLeaseLimits,
  type Verdict,
} from "../../admission/index.ts";
import type { AdmissionConfig, PoolReader, PoolSnapshot } from "../../pools/index.ts";
import { explanationHandlers } from "../explanation/explanation-handler.ts";
import { createConstrainedAcceptor } from "../intake/constrained-acceptor.ts";
import { leaseWithinLimits } from "../leasing/limited-lease.ts";
import { applyTransitions } from "../transitions/item-transitions.ts";

export interface StagedPool {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly environmentId: string;
}

/** Creates a test setup of admission's operations over the queue's accept path, with its own pools. */
export function admissionFixture(db: Database) {
  const snapshots = new Map<string, PoolSnapshot>();
  const keys = createAdmissionKeys(randomBytes(32));
  const admissionOf = createAdmissionRequests(keys);
  const acceptor = createConstrainedAcceptor(db, () => {});
  const events = recordedEvents();
  const woken: string[] = [];
  const pools: Pick<PoolReader, "requirePool" | "requireKnownPool"> = {
    async requirePool({ tenantId, principal }, poolId) {
      const found = snapshots.get(poolId);
      if (found?.pool.tenantId !== tenantId) throw notFound("pool");
      if (!mayUseEnvironment(principal, found.environmentKey)) throw fail("PERMISSION_DENIED");
      return found;
    },
    requireKnownPool: async (caller, poolId) => pools.requirePool(caller, poolId),
  };
  const handlers = {
    ...admissionHandlers({
      pools,
      events: events as never,
      keys,
      wake: (_, poolId) => woken.push(poolId),
    }),
    ...explanationHandlers(pools),
  };

  return {
    ...callsOf(db, handlers),
    handlers,
    events,
    woken,
    snapshots: snapshots as ReadonlyMap<string, PoolSnapshot>,
    admissionOf,

    /** Creates a pool, in a new tenant or in a given one. */
    async pool(admission: AdmissionConfig, { tenantId = freshTenant(), environmentKey = "production" } = {}) {
      const staged: StagedPool = { tenantId, poolId: ulid(Date.now()), environmentId: ulid(Date.now()) };
      await db.sql`
        insert into environments (tenant_id, id, key, name, mode, status, created_at, updated_at)
        values (${tenantId}, ${staged.environmentId}, ${environmentKey}, '', 'live', 'active', now(), now())
        on conflict do nothing`;
      const [environment] = await db.sql<{ id: string }[]>`
        select id from environments where tenant_id = ${tenantId} and key = ${environmentKey}`;
      const placed = { ...staged, environmentId: environment!.id };
      snapshots.set(staged.poolId, {
        pool: { ...placed, id: staged.poolId, name: "pool", config: { admission, dlq: { maxRetries: 3 } } },
        environmentKey,
      } as unknown as PoolSnapshot);
      return placed;
    },

    /** Leases as many of a pool's items as its limits allow; returns their ids. */
    async lease({ tenantId, poolId, environmentId }: StagedPool, count = 1) {
      const limits = toLeaseLimits(snapshots.get(poolId)!.pool.config.admission) ?? {};
      const scope = { tenantId, poolId, environmentId, delivery: "pull" as const, recipientIds: [""] };
      const params = { leaseS: 600, ageingMs: 60_000, tokenSecret: "0123456789abcdef", shard: 0 };
      const { rows } = await leaseWithinLimits(db, { ...scope, ...params, limits, count }, { at: undefined });
      return rows.map(({ id }) => id);
    },

    /** Cancels a waiting or leased item. */
    async end(
      { tenantId, poolId }: StagedPool,
      { id, refs }: { id: string; refs: readonly GroupRef[] },
      nowMs = Date.now(),
    ) {
      const names = refs.map((ref) => ({ ...ref, tenantId }));
      const cancelled = { tenantId, poolId, id, from: "unfinished" as const, to: "cancelled" as const };
      await db.transaction((tx) => applyTransitions(tx, [cancelled], names, nowMs, 0));
    },

    /** Enqueues an item as routing does; returns its id and verdict. */
    async enqueue({ tenantId, poolId }: StagedPool, item: Partial<KeyedItem> = {}, nowMs = Date.now()) {
      const { pool } = snapshots.get(poolId)!;
      const id = ulid(nowMs);
      const refs = keys.refsOf(pool, { ...defaultItem, ...item });
      const admission = admissionOf(pool, { ...defaultItem, ...item });
      let verdict: Verdict | undefined;
      const request = {
        tenantId,
        items: [
          {
            id,
            poolId,
            admission,
            push: false,
          },
        ],
        nowMs,
        claim: undefined,
        toBatch: ([given]: readonly (Verdict | undefined)[]) => {
          verdict = given ?? admitted;
          return {
            rows: [{ ...decisionRow(tenantId, poolId, id, verdict), item: itemRow(verdict, admission, nowMs) }],
            record: undefined,
          };
        },
      };
      await acceptor.accept([request], 0);
      return { id, refs, verdict: verdict! };
    },
  };
}

/** Calls the operations like a client. */
function callsOf(db: Database, handlers: Handlers<typeof AdmissionService>) {
  return {
    async preview({ tenantId, poolId }: StagedPool, item: Partial<KeyedItem> = {}, nowMs = Date.now()) {
      const { type, key, attributes } = { ...defaultItem, ...item };
      const request = { poolId, item: { type, key, attributes: attributes as never } };
      const context = { tenantId, nowMs };
      return (await perform(db, context, handlers.previewAdmission, PreviewAdmissionRequestSchema, request)).preview!;
    },

    async explain({ tenantId, poolId }: StagedPool, queueItemId: string, nowMs = Date.now()) {
      const context = { tenantId, nowMs };
      const request = { poolId, queueItemId };
      return (await perform(db, context, handlers.explainAdmission, ExplainAdmissionRequestSchema, request))
        .explanation!;
    },

    list: (choice: ContextChoice, request: MessageInitShape<typeof ListAdmissionGroupsRequestSchema> = {}) =>
      perform(db, choice, handlers.listAdmissionGroups, ListAdmissionGroupsRequestSchema, request),

    async get({ tenantId, poolId }: StagedPool, { kind, groupId }: GroupRef, choice: ContextChoice = {}) {
      const context = { tenantId, ...choice };
      const request = { poolId, constraintKind: kind, groupId };
      return (await perform(db, context, handlers.getAdmissionGroup, GetAdmissionGroupRequestSchema, request)).group!;
    },

    async clear({ tenantId, poolId }: StagedPool, { kind, groupId }: GroupRef, choice: ContextChoice = {}) {
      const context = { tenantId, subject: "user:ada", ...choice };
      const request = { poolId, constraintKind: kind, groupId, reason: "stuck since noon" };
      return (await perform(db, context, handlers.clearAdmissionGroup, ClearAdmissionGroupRequestSchema, request))
        .group!;
    },
  };
}

/** Each constraint keyed by the item's key, with periods longer than any test. */
export const constraints: Required<AdmissionConfig> = {
  singleton: { key: "item.key", mode: "skip", ttlS: 3600 },
  debounce: { key: "item.key", periodS: 600, maxDelayS: 3600, take: "last" },
  throttle: { key: "item.key", limit: 1, periodS: 600, burst: 0, cost: 1, onLimit: "delay" },
  concurrency: { key: "item.key", limit: 1, scope: "pool" },
};

const noGroups = { singleton: "", debounce: "", throttle: "", concurrency: "" };

const defaultItem: KeyedItem = {
  type: "ticket",
  key: "",
  attributes: {},
  requirements: { skills: {}, recipientId: "", excludedRecipientIds: [] },
  priority: 0,
};

function decisionRow(tenantId: TenantId, poolId: string, id: string, { status }: Verdict) {
  const requested = {
    type: "ticket",
    key: "",
    attributesJson: "{}",
    requirementsJson: "{}",
    payloadJson: "{}",
    priority: 0,
  };
  const decided = { outcome: status, recipientId: "", snapshotDigest: "00", seed: 0, evidenceJson: "{}" };
  return { decision: { tenantId, id, poolId, ...requested, ...decided }, priority: 0, events: [] };
}

function itemRow(verdict: Verdict, admission: AdmissionRequest | undefined, nowMs: number) {
  if (verdict.status === "deduplicated" || verdict.status === "rejected") return undefined;
  const { dueAtMs, holdReason } = verdict;
  const { groups = noGroups, limitGroups = [] } = admission ?? {};
  return {
    recipientId: "",
    delivery: "pull" as const,
    state: holdReason === "" ? ("ready" as const) : ("held" as const),
    ageingS: 60,
    dueAtMs,
    notBeforeMs: dueAtMs,
    holdReason,
    expiresAtMs: nowMs + 86_400_000,
    ownTtl: false,
    groups,
    limitGroups,
  };
}
