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
import { createCursors } from "../../../../platform/cursor/index.ts";
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
import { createAdmissionTaking } from "../intake/constrained-acceptor.ts";
import { leaseWithinLimits } from "../leasing/limited-lease.ts";
import { move } from "../transitions/item-transitions.ts";

/** A pool of a tenant of its own, in an environment of a given key. */
export interface StagedPool {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly environmentId: string;
}

/** Admission's operations over the accept path of the queue, with pools that are made here. */
export function admissionStage(db: Database) {
  const snapshots = new Map<string, PoolSnapshot>();
  const keys = createAdmissionKeys(randomBytes(32));
  const admissionOf = createAdmissionRequests(keys);
  const taking = createAdmissionTaking(db, () => {});
  const events = recordedEvents();
  const woken: string[] = [];
  const pools: Pick<PoolReader, "requirePool"> = {
    async requirePool({ tenantId, principal }, poolId) {
      const found = snapshots.get(poolId);
      if (found?.pool.tenantId !== tenantId) throw notFound("pool");
      if (!mayUseEnvironment(principal, found.environmentKey)) throw fail("PERMISSION_DENIED");
      return found;
    },
  };
  const handlers = {
    ...admissionHandlers({
      pools,
      events: events as never,
      keys,
      cursors: createCursors(randomBytes(32)),
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

    /** Makes a pool, in a new tenant or beside another one. */
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

    /** Hands out as many of a pool's items as its limits allow; answers with their ids. */
    async handOut({ tenantId, poolId, environmentId }: StagedPool, count = 1) {
      const limits = toLeaseLimits(snapshots.get(poolId)!.pool.config.admission) ?? {};
      const whose = { tenantId, poolId, environmentId, delivery: "pull" as const, recipientIds: [""] };
      const lease = { leaseS: 600, ageingMs: 60_000, stem: "0123456789abcdef", shard: 0 };
      const { rows } = await leaseWithinLimits(db, { ...whose, ...lease, limits, count }, { at: undefined });
      return rows.map(({ id }) => id);
    },

    /** Ends an item, whatever it is doing. */
    async end(
      { tenantId, poolId }: StagedPool,
      { id, refs }: { id: string; refs: readonly GroupRef[] },
      nowMs = Date.now(),
    ) {
      const names = refs.map((ref) => ({ ...ref, tenantId }));
      const cancelled = { tenantId, poolId, id, from: "unfinished" as const, to: "cancelled" as const };
      await db.transaction((tx) => move(tx, [cancelled], names, nowMs, 0));
    },

    /** Puts an item on the queue as routing does; answers with its id and what became of it. */
    async enqueue({ tenantId, poolId }: StagedPool, item: Partial<KeyedItem> = {}, nowMs = Date.now()) {
      const { pool } = snapshots.get(poolId)!;
      const id = ulid(nowMs);
      const refs = keys.refsOf(pool, { ...anItem, ...item });
      const admission = admissionOf(pool, { ...anItem, ...item });
      let verdict: Verdict | undefined;
      const proposal = {
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
        settle: ([said]: readonly (Verdict | undefined)[]) => {
          verdict = said ?? admitted;
          return {
            rows: [{ ...decisionRow(tenantId, poolId, id, verdict), item: itemRow(verdict, admission, nowMs) }],
            record: undefined,
          };
        },
      };
      await taking.take([proposal], 0);
      return { id, refs, verdict: verdict! };
    },
  };
}

/** Calls of the operations, as a caller makes them. */
function callsOf(db: Database, handlers: Handlers<typeof AdmissionService>) {
  return {
    async preview({ tenantId, poolId }: StagedPool, item: Partial<KeyedItem> = {}, nowMs = Date.now()) {
      const { type, key, attributes } = { ...anItem, ...item };
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

/** Each constraint by the item's key, with times that no test lives to see pass. */
export const constraints: Required<AdmissionConfig> = {
  singleton: { key: "item.key", mode: "skip", ttlS: 3600 },
  debounce: { key: "item.key", periodS: 600, maxDelayS: 3600, take: "last" },
  throttle: { key: "item.key", limit: 1, periodS: 600, burst: 0, cost: 1, onLimit: "delay" },
  concurrency: { key: "item.key", limit: 1, scope: "pool" },
};

const noGroups = { singleton: "", debounce: "", throttle: "", concurrency: "" };

/** An item that says nothing. */
const anItem: KeyedItem = {
  type: "ticket",
  key: "",
  attributes: {},
  requirements: { skills: {}, recipientId: "", excludedRecipientIds: [] },
  priority: 0,
};

function decisionRow(tenantId: TenantId, poolId: string, id: string, { status }: Verdict) {
  const asked = {
    type: "ticket",
    key: "",
    attributesJson: "{}",
    requirementsJson: "{}",
    payloadJson: "{}",
    priority: 0,
  };
  const decided = { outcome: status, recipientId: "", snapshotDigest: "00", seed: 0, evidenceJson: "{}" };
  return { decision: { tenantId, id, poolId, ...asked, ...decided }, priority: 0, events: [] };
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
