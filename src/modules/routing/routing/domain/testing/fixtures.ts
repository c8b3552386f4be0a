import type { PoolConfig, PoolId, PoolSnapshot, Recipient, RecipientId, Rule, RuleId } from "../../../pools/index.ts";
import type { CompiledPool } from "../compilation/compiled-pool.ts";
import { compilePool } from "../compilation/compiled-pool.ts";
import type { Decision, DecisionPoint } from "../decision.ts";
import type { LivePool } from "../facts/live-pool.ts";
import type { Requirements, RoutableItem } from "../item.ts";

/** A time at which every recipient has finished slow start. */
export const nowMs = 1_800_000_000_000;

const createdAt = new Date(nowMs - 86_400_000);
const stamps = { createdAt, updatedAt: createdAt, recordVersion: 1 };
const tenantId = "tenant" as Recipient["tenantId"];
const poolId = "pool" as PoolId;

/** Overrides of config sections. */
export type ConfigParts = {
  readonly [Part in "selection" | "fallback" | "outlier" | "queue"]?: Partial<PoolConfig[Part]>;
};

/** Overrides of a default recipient. */
export type RecipientParts = Partial<Omit<Recipient, "id">> & { readonly id?: string };

/** Overrides of a default rule, which always holds and prefers. */
export type RuleParts = Partial<Omit<Rule, "id">> & { readonly id?: string };

/** Overrides of a default pool. */
export interface PoolParts {
  readonly strategy?: PoolSnapshot["pool"]["strategy"];
  readonly recipients?: readonly RecipientParts[];
  readonly rules?: readonly RuleParts[];
  readonly config?: ConfigParts;
}

export function poolOf(parts: PoolParts): CompiledPool {
  return compilePool(snapshotOf(parts));
}

function snapshotOf({
  strategy = "weighted_random",
  recipients = [],
  rules = [],
  config = {},
}: PoolParts): PoolSnapshot {
  return {
    pool: {
      ...stamps,
      tenantId,
      id: poolId,
      environmentId: "environment",
      name: "pool",
      description: "",
      strategy,
      status: "active",
      config: configOf(config),
    },
    environmentKey: "production",
    environmentMode: "live",
    recipients: recipients.map(recipientOf),
    rules: rules.map(ruleOf),
    digest: "",
    revision: 0,
  };
}

function recipientOf(parts: RecipientParts, index: number): Recipient {
  const id = (parts.id ?? `r${index}`) as RecipientId;
  return {
    ...stamps,
    tenantId,
    poolId,
    name: id,
    status: "active",
    weight: 100,
    capacity: 0,
    priority: 100,
    attributes: {},
    skills: {},
    cost: 0,
    delivery: { mode: "pull", url: "", secretRef: "" },
    availableSince: createdAt,
    ...parts,
    id,
  };
}

function ruleOf(parts: RuleParts, index: number): Rule {
  return {
    ...stamps,
    tenantId,
    poolId,
    name: "rule",
    priority: 100,
    condition: "",
    enabled: true,
    stopOnMatch: false,
    onError: "skip",
    action: { type: "prefer" },
    ...parts,
    id: (parts.id ?? `rule${index}`) as RuleId,
  };
}

function configOf({ selection, fallback, outlier, queue }: ConfigParts): PoolConfig {
  return {
    selection: { hashKey: "", choiceCount: 2, slowStartS: 60, skillChoice: "best_skilled", ...selection },
    fallback: { steps: [], onNoMatch: "queue", redirectPoolId: "", ...fallback },
    outlier: { consecutiveFailures: 5, ejectS: 30, maxEjectedPct: 50, ...outlier },
    queue: { maxDepth: 100_000, ttlS: 86_400, ageingS: 60, order: "aged_priority", ...queue },
    // Decisions do not read the other sections.
  } as PoolConfig;
}

export function itemOf(
  parts: Partial<Omit<RoutableItem, "requirements">> & { readonly requirements?: Partial<Requirements> } = {},
): RoutableItem {
  return {
    type: "ticket",
    key: "",
    attributes: {},
    priority: 0,
    ...parts,
    requirements: { skills: {}, recipientId: "", excludedRecipientIds: [], ...parts.requirements },
  };
}

/** Creates a decision point with a distinct seed for each number. */
export function at(nth: number, parts: Partial<DecisionPoint> = {}): DecisionPoint {
  return { nowMs, seed: (nth * 4_503_599_627_371 + 17) % Number.MAX_SAFE_INTEGER, waitedS: 0, ...parts };
}

/** Counts decisions by recipient id. */
export function tally(decisions: Iterable<Decision>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { recipientId } of decisions) counts[recipientId] = (counts[recipientId] ?? 0) + 1;
  return counts;
}

/** Assigns an item to a recipient and releases it immediately. */
export function assignAndRelease(live: LivePool, recipientId: string): void {
  live.assigned(recipientId, nowMs);
  live.released(recipientId);
}
