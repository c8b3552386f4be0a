import type { PoolConfig, PoolId, PoolSnapshot, Recipient, RecipientId, Rule, RuleId } from "../../../pools/index.ts";
import type { CompiledPool } from "../compilation/compiled-pool.ts";
import { compilePool } from "../compilation/compiled-pool.ts";
import type { Decision, DecisionPoint } from "../decision.ts";
import type { LivePool } from "../facts/live-pool.ts";
import type { Requirements, RoutableItem } from "../item.ts";

/** A moment at which everybody has been available for long. */
export const nowMs = 1_800_000_000_000;

const createdAt = new Date(nowMs - 86_400_000);
const stamps = { createdAt, updatedAt: createdAt, recordVersion: 1 };
const tenantId = "tenant" as Recipient["tenantId"];
const poolId = "pool" as PoolId;

/** Changes to the parts of a config. */
export type ConfigParts = { readonly [Part in "selection" | "fallback" | "outlier"]?: Partial<PoolConfig[Part]> };

/** A recipient that differs from an ordinary one in some fields. */
export type RecipientParts = Partial<Omit<Recipient, "id">> & { readonly id?: string };

/** A rule that differs from one that always holds and does nothing but prefer. */
export type RuleParts = Partial<Omit<Rule, "id">> & { readonly id?: string };

export interface PoolParts {
  readonly strategy?: PoolSnapshot["pool"]["strategy"];
  readonly recipients?: readonly RecipientParts[];
  readonly rules?: readonly RuleParts[];
  readonly config?: ConfigParts;
}

/** A pool ready for decisions. */
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

function configOf({ selection, fallback, outlier }: ConfigParts): PoolConfig {
  return {
    selection: { hashKey: "", choiceCount: 2, slowStartS: 60, ...selection },
    fallback: { steps: [], onNoMatch: "queue", redirectPoolId: "", ...fallback },
    outlier: { consecutiveFailures: 5, ejectS: 30, maxEjectedPct: 50, ...outlier },
    // No decision looks at the rest.
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

/** A point in time with a seed of its own for each number. */
export function at(nth: number, parts: Partial<DecisionPoint> = {}): DecisionPoint {
  return { nowMs, seed: (nth * 4_503_599_627_371 + 17) % Number.MAX_SAFE_INTEGER, waitedS: 0, ...parts };
}

/** How many decisions went to each recipient, by id. */
export function tally(decisions: Iterable<Decision>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { recipientId } of decisions) counts[recipientId] = (counts[recipientId] ?? 0) + 1;
  return counts;
}

/** Gives a recipient an item, and takes it back at once. */
export function pass(live: LivePool, recipientId: string): void {
  live.assigned(recipientId, nowMs);
  live.released(recipientId);
}
