import { createHash } from "node:crypto";
import type { Context } from "../../../chain/call.ts";
import { Failure, fail, type Violation } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { canonicalJson } from "../../../platform/crypto/index.ts";
import { notFound, requireFound, type Sql } from "../../../platform/db/index.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Operators } from "../operators.ts";
import type { Plan, PlanVersion } from "./domain/plan.ts";
import { type PlanTerms, termsViolations } from "./domain/terms.ts";
import { toDocument } from "./domain/terms-document.ts";
import { type PlanRef, planStore } from "./store.ts";

export interface PlanParts {
  readonly events: EventRecorder;
  readonly operators: Operators;
  readonly platformTenantId: () => TenantId;
  /** Which of some meters accept usage, or are counted by the service. */
  readonly findMeters: (sql: Sql, keys: readonly string[]) => Promise<ReadonlySet<string>>;
}

export interface NewPlan extends Pick<Plan, "key" | "name" | "description" | "selfService"> {
  readonly terms: PlanTerms;
}

export type PlanService = ReturnType<typeof createPlanService>;

export function createPlanService({ events, operators, platformTenantId, findMeters }: PlanParts) {
  async function addVersion(context: Context, planKey: string, version: number, terms: PlanTerms) {
    const digest = createHash("sha256")
      .update(canonicalJson(toDocument(terms)))
      .digest("hex");
    const added = { planKey, version, terms, digest, createdAt: new Date(context.nowMs) };
    await planStore(context.sql).insertVersion(platformTenantId(), added);
    return added;
  }

  /** Throws INVALID_ARGUMENT if terms contradict themselves or name a meter that does not exist. */
  async function requireValid(sql: Sql, terms: PlanTerms): Promise<void> {
    const violations: Violation[] = termsViolations(terms);
    const keys = terms.prices.map(({ meterKey }) => meterKey).filter((key) => key !== "");
    const known = await findMeters(sql, keys);
    for (const [at, { meterKey }] of terms.prices.entries()) {
      if (meterKey === "" || known.has(meterKey)) continue;
      const message = `names a meter that does not exist: ${meterKey}`;
      violations.push({ field: `terms.prices[${at}].meter_key`, rule: "plan_terms", message });
    }
    const [first] = violations;
    if (first === undefined) return;
    throw new Failure("INVALID_ARGUMENT", { public: `${first.field}: ${first.message}`, violations });
  }

  async function requirePlan(sql: Sql, key: string): Promise<Plan> {
    return requireFound(await planStore(sql).find(platformTenantId(), key), "plan");
  }

  async function refusal(sql: Sql, key: string): Promise<Failure> {
    await requirePlan(sql, key);
    return fail("FAILED_PRECONDITION", { public: "The plan is archived." });
  }

  return {
    requirePlan,

    /** Finds a version; the newest one for version 0. */
    async findVersion(sql: Sql, { planKey, planVersion }: PlanRef): Promise<PlanVersion> {
      const version = planVersion === 0 ? (await requirePlan(sql, planKey)).latestVersion : planVersion;
      const [found] = await planStore(sql).findVersions(platformTenantId(), [{ planKey, planVersion: version }]);
      if (found === undefined) throw notFound("version of the plan");
      return found;
    },

    /** Finds versions that exist. */
    findVersions(sql: Sql, refs: readonly PlanRef[]): Promise<PlanVersion[]> {
      return planStore(sql).findVersions(platformTenantId(), refs);
    },

    async createPlan(context: Context, { terms, ...input }: NewPlan): Promise<Plan> {
      operators.require(context, "create plans");
      await requireValid(context.sql, terms);
      const plan = await planStore(context.sql).insert(platformTenantId(), {
        ...input,
        status: "active",
        latestVersion: 1,
        ...newStamps(context.nowMs),
      });
      await addVersion(context, plan.key, 1, terms);
      await events.record(context, "billing.plan.created", plan.key, { name: plan.name }, platformTenantId());
      return plan;
    },

    async createVersion(context: Context, key: string, terms: PlanTerms): Promise<PlanVersion> {
      operators.require(context, "create versions of plans");
      await requireValid(context.sql, terms);
      const plan = await planStore(context.sql).raiseVersion(platformTenantId(), key, new Date(context.nowMs));
      if (plan === undefined) throw await refusal(context.sql, key);
      const added = await addVersion(context, key, plan.latestVersion, terms);
      const data = { version: added.version, digest: added.digest };
      await events.record(context, "billing.plan.version_created", key, data, platformTenantId());
      return added;
    },

    async archivePlan(context: Context, key: string): Promise<Plan> {
      operators.require(context, "archive plans");
      const plan = await planStore(context.sql).archive(platformTenantId(), key, new Date(context.nowMs));
      if (plan === undefined) throw await refusal(context.sql, key);
      await events.record(context, "billing.plan.archived", key, {}, platformTenantId());
      return plan;
    },

    async listVersions(context: Context, key: string): Promise<PlanVersion[]> {
      await requirePlan(context.sql, key);
      return planStore(context.sql).listVersions(platformTenantId(), key);
    },
  };
}
