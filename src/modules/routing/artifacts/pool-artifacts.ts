import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { canaryStore } from "../../../platform/canary/index.ts";
import type { EventLoopScheduler } from "../../../platform/event-loop/index.ts";
import type { ArtifactFinding, PromotableArtifacts } from "../../promotable-artifacts.ts";
import type { Admission } from "../admission/index.ts";
import {
  type ContentChange,
  configOf,
  decodeContent,
  deriveSnapshot,
  diffContents,
  digestOfStrategy,
  type PoolContent,
  type Pools,
  versionStore,
  withStrategyOf,
} from "../pools/index.ts";
import { simulatePool } from "../routing/index.ts";
import { poolGauges, poolOutcomes } from "./evidence-store.ts";

interface Dependencies {
  readonly pools: Pools;
  readonly shares: EventLoopScheduler;
  readonly admissionOf: Admission["requestOf"];
}

/** Sections of the config that a canary leaves to the baseline: they apply to items in the queue, whatever decided them. */
const sharedSections = ["config.lease", "config.retry", "config.dlq", "config.outlier", "config.anomaly"];

export function createPoolArtifacts(dependencies: Dependencies): PromotableArtifacts[] {
  return [createArtifacts(dependencies, "routing"), createArtifacts(dependencies, "strategy")];
}

function createArtifacts(
  { pools, shares, admissionOf }: Dependencies,
  kind: "routing" | "strategy",
): PromotableArtifacts {
  const { access, versions } = pools;
  const isWhole = kind === "routing";

  /** Reads the live version of the part that the kind replaces. */
  async function liveOf(context: Context, poolId: string) {
    const pool = await access.read(context, poolId);
    const { version, digest } = await versions.activeVersion(context, pool.id);
    const content = (await versionStore(context.sql).liveContent(context.tenantId, pool.id))!;
    return { pool, content, live: { version, sha256: isWhole ? digest : digestOfStrategy(content) } };
  }

  /** The content of a pool after the activation of a version. */
  async function contentAfter(context: Context, poolId: string, version: number, live: PoolContent) {
    const wanted = decodeContent((await versions.getVersion(context, poolId, version)).content);
    return isWhole ? wanted : withStrategyOf(live, wanted);
  }

  /** Reloads the pool on every node. */
  const announce = (context: Context, poolId: string) => access.change(context, poolId);

  return {
    kind,
    targetKind: "pool",
    scopes: isWhole ? ["pool:write", "rule:write"] : ["pool:write"],

    async findTarget(context, environmentId, ref) {
      const poolId = await pools.findPoolId(context.sql, context.tenantId, environmentId, ref);
      if (poolId === undefined) return undefined;
      const { pool, live } = await liveOf(context, poolId);
      return { id: pool.id, name: pool.name, live };
    },

    async findVersion({ sql, tenantId }, targetId, version) {
      const found = await versionStore(sql).find(tenantId, targetId, version);
      if (found === undefined) return undefined;
      const sha256 = isWhole ? found.digest : digestOfStrategy(decodeContent(found.content));
      return { version, sha256, authors: [found.createdBy] };
    },

    async check(context, _environmentId, targetId, version) {
      const { pool, content } = await liveOf(context, targetId);
      const after = await contentAfter(context, targetId, version, content);
      const blocking = pool.status === "archived" ? [finding("target_archived", "The pool is archived.")] : [];
      const problems = await versions.problemsOf(context, pool, after);
      return {
        impacts: [...impactsOf(diffContents(content, after), pool.status), ...queueImpacts(content, after)],
        blocking: [...blocking, ...problems.map((problem) => finding("invalid_content", problem))],
      };
    },

    async live(context, targetId) {
      return (await liveOf(context, targetId)).live;
    },

    async lock(context, targetId) {
      await pools.lockPool(context.sql, context.tenantId, targetId);
      return (await liveOf(context, targetId)).live;
    },

    async activate(context, targetId, version) {
      const { content } = await liveOf(context, targetId);
      const pool = await access.change(context, targetId);
      await versions.apply(context, pool, await contentAfter(context, targetId, version, content));
    },

    async startCanary(context, canary) {
      await announce(context, canary.targetId);
      await canaryStore(context.sql).start(context.tenantId, "pool", canary);
    },

    async stopCanary(context, targetId, candidateId) {
      const stopped = await canaryStore(context.sql).stop(context.tenantId, "pool", targetId, candidateId);
      if (stopped) await announce(context, targetId);
    },

    outcomes: poolOutcomes,
    gauges: poolGauges,

    async simulate(context, { targetId, version, from, until, itemsMax }) {
      const { sql, tenantId, signal } = context;
      const before = await pools.snapshot(tenantId, targetId);
      if (before === undefined) throw fail("FAILED_PRECONDITION", { public: "The pool is archived." });
      const { content } = await liveOf(context, targetId);
      const after = await deriveSnapshot(before, await contentAfter(context, targetId, version, content));
      return simulatePool(sql, tenantId, {
        ...{ before, after, from, until, itemsMax, signal, slices: shares.forCall(tenantId) },
        admissionOf: ({ pool }, item) => admissionOf(pool, item),
      });
    },
  };
}

function finding(code: string, message: string): ArtifactFinding {
  return { code, message };
}

/** Describes the changes of a version for a reviewer. */
function impactsOf(changes: readonly ContentChange[], status: string): ArtifactFinding[] {
  const impacts: ArtifactFinding[] = [];
  const strategy = changes.find(({ path }) => path === "strategy");
  if (strategy !== undefined) {
    impacts.push(finding("strategy_changed", `The strategy changes from ${strategy.before} to ${strategy.after}.`));
  }
  const sections = changes.filter(({ path }) => path.startsWith("config."));
  if (sections.length > 0) {
    impacts.push(finding("config_changed", `The config changes: ${list(sections.map(({ path }) => path))}.`));
  }
  const shared = sections.filter(({ path }) => sharedSections.includes(path));
  if (shared.length > 0) {
    const names = list(shared.map(({ path }) => path));
    impacts.push(finding("not_in_canary", `Only the promotion applies ${names}; the canary does not.`));
  }
  for (const change of ["added", "removed", "changed"] as const) {
    const rules = changes.filter((each) => each.path.startsWith("rules.") && each.change === change);
    if (rules.length === 0) continue;
    impacts.push(finding(`rules_${change}`, `Rules ${change}: ${list(rules.map(({ name }) => name))}.`));
  }
  if (status !== "active") impacts.push(finding("target_inactive", `The pool is ${status}.`));
  return impacts;
}

/** Describes the changes for items that are routed later, beyond the choice of a recipient. */
function queueImpacts(before: PoolContent, after: PoolContent): ArtifactFinding[] {
  const [was, is] = [configOf(before), configOf(after)];
  const impacts: ArtifactFinding[] = [];
  if (was.queue.order !== is.queue.order) {
    const message = `The order of the queue changes from ${was.queue.order} to ${is.queue.order}. Items that wait keep their place.`;
    impacts.push(finding("queue_order_changed", message));
  }
  if (was.acceptsUnaddressed !== is.acceptsUnaddressed) {
    const message = is.acceptsUnaddressed
      ? "Rules may choose the pool for items without one."
      : "Items without a pool no longer come to this pool.";
    impacts.push(finding("unaddressed_changed", message));
  }
  return impacts;
}

const shownMax = 20;

function list(names: readonly string[]): string {
  const more = names.length > shownMax ? ` and ${names.length - shownMax} more` : "";
  return names.slice(0, shownMax).join(", ") + more;
}
