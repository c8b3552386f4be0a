import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { productionKey, requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import type { Json } from "../../../platform/document/index.ts";
import { runAtOnce, runInSlices } from "../../../platform/event-loop/index.ts";
import { type KeyedCall, withIdempotency } from "../../../platform/idempotency/index.ts";
import { isUlid } from "../../../platform/ids/ulid.ts";
import { shareOf } from "../../../platform/process-share/process-share.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import { nearestName } from "../../../platform/text/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Quotas } from "../../tenancy/index.ts";
import { isSummable, summableRange } from "../analysis/index.ts";
import { nextStatus } from "../experiments/index.ts";
import { unitHashOf } from "./domain/unit-hash.ts";
import { type CompiledExperiment, decideEligibility, type Exclusion } from "./eligibility.ts";
import { type Exposure, exposureName, type NewExposure } from "./exposure-store.ts";
import { assignQuota, type ExposureResult, type ExposureWriter } from "./exposure-writer.ts";
import type { Receipts, SignedReceipt } from "./receipts.ts";
import type { Snapshots } from "./snapshots.ts";

/** How a call names an experiment. */
export interface ExperimentReference {
  /** The id of the experiment, or its key in the environment. */
  readonly experimentId: string;
  /** The id or the key of the environment of a key; production when empty. */
  readonly environmentId: string;
}

/** A unit to assign. */
export interface UnitInput {
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly covariates: Readonly<Record<string, number>>;
}

/** The variant of a unit, and why. */
export interface Assignment {
  readonly experimentId: string;
  readonly unit: string;
  /** Empty if the unit gets none. */
  readonly variant: string;
  readonly value: Json | undefined;
  readonly reason: "assigned" | Exclusion | "paused" | "decided" | "completed" | "stopped";
  /** Only of units that are in the experiment. */
  readonly receipt: SignedReceipt | undefined;
}

interface Dependencies extends Pick<PlatformServices, "db" | "shares"> {
  readonly snapshots: Snapshots;
  readonly receipts: Receipts;
  readonly writer: ExposureWriter;
  readonly quotas: () => Pick<Quotas, "isUsedUp" | "exceeded">;
  readonly metrics: Pick<Metrics, "tenantCounter">;
  /** How long after its window a unit is counted, so that scores which are being written are not missed. */
  readonly graceMs: number;
}

/** The part of a call's context that assignments need. */
export type AssignContext = Pick<Context, "tenantId" | "principal" | "nowMs" | "quotaOf">;

export type AssignmentService = ReturnType<typeof createAssignmentService>;

/** A unit whose variant is not known in memory. */
interface Pending {
  readonly at: number;
  readonly name: string;
  readonly candidate: NewExposure;
  /** Whether the unit enters if it was never exposed. */
  readonly mayEnter: boolean;
  /** The reason if it does not. */
  readonly otherwise: Assignment["reason"];
}

/** An exposure never changes, so nothing is invalidated. */
const cachedMax = 100_000;

export function createAssignmentService(dependencies: Dependencies) {
  const { db, snapshots, receipts, writer, shares, quotas, graceMs } = dependencies;
  const cache = new BoundedCache<string, SignedReceipt>(shareOf(cachedMax));
  const assignments = dependencies.metrics.tenantCounter({
    name: "experiment_assignments_total",
    help: "Assignments of units, by outcome: first exposures, repeated ones, and units without a variant.",
    labels: ["outcome"],
  });

  /** Finds an experiment by its id, or by its key in the environment. An environment beside an id must be the experiment's. */
  async function findExperiment(tenantId: TenantId, { experimentId, environmentId }: ExperimentReference) {
    if (!isUlid(experimentId)) return snapshots.findByKey(tenantId, environmentId || productionKey, experimentId);
    const found = await snapshots.find(tenantId, experimentId);
    if (found === undefined || environmentId === "") return found;
    const { environmentId: id, environmentKey: key } = found.experiment;
    return environmentId === id || environmentId === key ? found : undefined;
  }

  async function requireExperiment(
    context: AssignContext,
    reference: ExperimentReference,
  ): Promise<CompiledExperiment> {
    const compiled = await findExperiment(context.tenantId, reference);
    if (compiled === undefined) throw noSuchExperiment();
    requireEnvironmentAccess(context, compiled.experiment.environmentKey);
    return compiled;
  }

  function toReceipt({ experiment }: CompiledExperiment, exposure: Exposure): SignedReceipt {
    const { tenantId, environmentId, id, design } = experiment;
    const { phase, unitHash, bucket, firstExposedAtMs } = exposure;
    const variant = design.variants[exposure.variant]!.key;
    return receipts.sign({
      ...{ tenantId, environmentId, experimentId: id },
      ...{ phase, unitHash, variant, bucket, firstExposedAtMs },
    });
  }

  function withVariant(
    { experiment, variantByKey }: CompiledExperiment,
    unit: string,
    variant: string,
    reason: Assignment["reason"],
    receipt?: SignedReceipt,
  ): Assignment {
    return { experimentId: experiment.id, unit, variant, value: variantByKey.get(variant)?.value, reason, receipt };
  }

  /** Runs work on units that yields after each, in slices of the event loop. One unit is never more than a slice. */
  function runForUnits<T>(tenantId: TenantId, units: readonly UnitInput[], work: Generator<void, T>): T | Promise<T> {
    return units.length > 1 ? runInSlices(work, shares.forCall(tenantId)) : runAtOnce(work);
  }

  /** Assigns what memory knows, and lists the rest. Yields after each unit, because targeting can be expensive. */
  function* assignFromMemory(
    compiled: CompiledExperiment,
    units: readonly UnitInput[],
    nowMs: number,
  ): Generator<void, { readonly known: (Assignment | undefined)[]; readonly pending: Pending[] }> {
    const { experiment } = compiled;
    const { status, decision, design, tenantId, id: experimentId, salts } = experiment;
    const pending: Pending[] = [];
    const assignOne = ({ unit, attributes, covariates }: UnitInput, at: number): Assignment | undefined => {
      if (status === "completed" || status === "stopped") {
        const variant = decision?.variant ?? "";
        return withVariant(compiled, unit, variant, variant === "" ? status : "decided");
      }
      const eligibility = decideEligibility(compiled, unit, attributes);
      if ("excluded" in eligibility) return withVariant(compiled, unit, "", eligibility.excluded);
      const unitHash = unitHashOf(salts.unit, unit);
      const name = exposureName({ tenantId, experimentId, unitHash });
      const cached = cache.get(name);
      if (cached !== undefined) return withVariant(compiled, unit, cached.variant, "assigned", cached);
      const isEligible = "variant" in eligibility;
      const candidate: NewExposure = {
        ...{ tenantId, experimentId, unitHash, phase: compiled.phase, firstExposedAtMs: nowMs },
        ...(isEligible ? { variant: eligibility.variant, bucket: eligibility.bucket } : { variant: 0, bucket: 0 }),
        dueAtMs: dueAtMs(design.metrics.length > 0, design.scoreWindowS, nowMs),
        covariates: Object.keys(covariates).length === 0 ? undefined : covariates,
      };
      const mayEnter = isEligible && status === "running";
      pending.push({ at, name, candidate, mayEnter, otherwise: isEligible ? "paused" : eligibility.otherwise });
      return undefined;
    };
    const known: (Assignment | undefined)[] = [];
    for (const [at, unit] of units.entries()) {
      known.push(assignOne(unit, at));
      yield;
    }
    return { known, pending };
  }

  function dueAtMs(isMeasured: boolean, scoreWindowS: number, nowMs: number): number | undefined {
    if (!isMeasured) return undefined;
    return scoreWindowS === 0 ? nowMs : nowMs + scoreWindowS * 1000 + graceMs;
  }

  /** Completes the assignments with stored exposures. Yields after each unit, because its receipt is signed. */
  function* complete(
    compiled: CompiledExperiment,
    units: readonly UnitInput[],
    known: readonly (Assignment | undefined)[],
    pending: readonly Pending[],
    stored: readonly (ReadonlyMap<string, Exposure> | undefined)[],
  ): Generator<void, Assignment[]> {
    const all = [...known];
    for (const { at, name, otherwise } of pending) {
      const exposure = stored[0]?.get(name) ?? stored[1]?.get(name);
      const { unit } = units[at]!;
      if (exposure === undefined) all[at] = withVariant(compiled, unit, "", otherwise);
      else {
        const receipt = toReceipt(compiled, exposure);
        all[at] = withVariant(compiled, unit, receipt.variant, "assigned", receipt);
      }
      yield;
    }
    return all as Assignment[];
  }

  /** Caches the receipts of stored exposures, and counts the assignments. To be called after the commit. */
  function remember(tenantId: TenantId, all: readonly Assignment[], pending: readonly Pending[], added: number): void {
    for (const { at, name } of pending) {
      const { receipt } = all[at]!;
      if (receipt !== undefined) cache.set(name, receipt);
    }
    const assigned = all.filter(({ receipt }) => receipt !== undefined).length;
    if (added > 0) assignments.inc(tenantId, { outcome: "first" }, added);
    if (assigned > added) assignments.inc(tenantId, { outcome: "repeat" }, assigned - added);
    if (all.length > assigned) assignments.inc(tenantId, { outcome: "none" }, all.length - assigned);
  }

  /** Refuses without a database query if the quota is known to be exhausted. */
  function checkQuota(tenantId: TenantId, quota: number | undefined): void {
    const take = { tenantId, operation: assignQuota, limit: quota! };
    if (quota !== undefined && quotas().isUsedUp(take)) throw quotas().exceeded(take);
  }

  function granted(quota: number | undefined, result: ExposureResult) {
    if (result !== "over_quota") return result;
    throw quotas().exceeded({ operation: assignQuota, limit: quota! });
  }

  /** Assigns units. Unknown exposures of all of them cost one statement, shared with other calls. */
  async function assignUnits(
    context: AssignContext,
    compiled: CompiledExperiment,
    units: readonly UnitInput[],
  ): Promise<Assignment[]> {
    nextStatus(compiled.experiment.status, "assign");
    checkCovariates(compiled, units);
    const { tenantId, nowMs } = context;
    const { known, pending } = await runForUnits(tenantId, units, assignFromMemory(compiled, units, nowMs));
    if (pending.length === 0) {
      remember(context.tenantId, known as Assignment[], pending, 0);
      return known as Assignment[];
    }
    const { entering, others } = divide(pending);
    const quota = context.quotaOf(assignQuota);
    const [written, read] = await Promise.all([
      entering.length === 0 ? undefined : write(context.tenantId, entering, quota),
      others.length === 0 ? undefined : writer.read(others),
    ]);
    const stored = [written?.stored, read];
    const all = await runForUnits(tenantId, units, complete(compiled, units, known, pending, stored));
    remember(context.tenantId, all, pending, written?.added ?? 0);
    return all;
  }

  async function write(tenantId: TenantId, exposures: readonly NewExposure[], quota: number | undefined) {
    checkQuota(tenantId, quota);
    return granted(quota, await writer.write({ exposures, quota }));
  }

  return {
    requireExperiment,
    assignUnits,

    /** The receipt of a unit, if this node has it in memory. */
    recallReceipt: ({ experiment }: CompiledExperiment, unitHash: string): SignedReceipt | undefined =>
      cache.get(exposureName({ tenantId: experiment.tenantId, experimentId: experiment.id, unitHash })),

    /** The digest of a unit in an experiment. */
    unitHash: ({ experiment }: CompiledExperiment, unit: string): string => unitHashOf(experiment.salts.unit, unit),

    /** Assigns units, and stores the response under an idempotency key in the same transaction. */
    async assignKeyed<R extends Message>(
      context: AssignContext,
      compiled: CompiledExperiment,
      units: readonly UnitInput[],
      keyed: KeyedCall,
      respond: (all: readonly Assignment[]) => R,
    ): Promise<R | "duplicate"> {
      const { tenantId, nowMs } = context;
      // Before the transaction, which holds a connection.
      const { known, pending } = await runForUnits(tenantId, units, assignFromMemory(compiled, units, nowMs));
      const done = await db.transaction((tx) =>
        withIdempotency(tx, keyed, async () => {
          nextStatus(compiled.experiment.status, "assign");
          checkCovariates(compiled, units);
          const { entering, others } = divide(pending);
          const quota = context.quotaOf(assignQuota);
          const written = entering.length === 0 ? undefined : await writer.writeIn(tx, { exposures: entering, quota });
          const result = written && granted(quota, written.result);
          const read = others.length === 0 ? undefined : await writer.read(others);
          const stored = [result?.stored, read];
          const all = await runForUnits(tenantId, units, complete(compiled, units, known, pending, stored));
          return { response: respond(all), all, pending, added: result?.added ?? 0, rememberQuota: written?.remember };
        }),
      );
      if (done === "duplicate") return done;
      done.rememberQuota?.();
      remember(context.tenantId, done.all, done.pending, done.added);
      return done.response;
    },
  };
}

function noSuchExperiment() {
  return fail("NOT_FOUND", {
    public: "No such experiment. A key is looked up in the environment environment_id, which is production by default.",
  });
}

/** The units that enter if they are new, and those that are only looked up. */
function divide(pending: readonly Pending[]) {
  return {
    entering: pending.filter(({ mayEnter }) => mayEnter).map(({ candidate }) => candidate),
    others: pending.filter(({ mayEnter }) => !mayEnter).map(({ candidate }) => candidate),
  };
}

/** Rejects covariates of unknown metrics. */
function checkCovariates({ experiment }: CompiledExperiment, units: readonly UnitInput[]): void {
  const known = experiment.design.metrics.map(({ key }) => key);
  for (const { covariates } of units) {
    for (const [metric, value] of Object.entries(covariates)) {
      if (!known.includes(metric)) throw unknownMetric("covariates", metric, known);
      if (!isSummable(value)) throw invalid(`covariates["${metric}"]`, "range", summableRange);
    }
  }
}

/** The failure for a metric that an experiment does not have. */
export function unknownMetric(field: string, metric: string, known: readonly string[]) {
  const nearest = nearestName(metric, known);
  const names = known.length === 0 ? "the experiment has no metrics" : `it has ${known.join(", ")}`;
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  const message = `must be a metric of the experiment: ${names}${hint}`;
  return fail("INVALID_ARGUMENT", {
    public: `${field}: ${message}`,
    violations: [{ field, rule: "unknown_metric", message }],
  });
}
