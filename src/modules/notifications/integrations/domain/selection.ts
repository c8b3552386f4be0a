import type { Channel } from "../../subscribers/index.ts";
import { type Condition, type ConditionValues, matchesCondition, readCondition } from "./condition.ts";
import type { Integration } from "./integration.ts";

/** The reason why no integration was selected. */
export type SelectionFailure = "none_active" | "condition_no_match" | "condition_error";

interface Candidate {
  readonly integration: Integration;
  readonly condition: Condition;
}

/** A tenant's integrations, prepared for selection. */
export interface Selection {
  readonly byId: ReadonlyMap<string, Integration>;
  /** Active integrations by channel, highest precedence first. */
  readonly candidates: ReadonlyMap<Channel, readonly Candidate[]>;
}

/** Sorts active integrations by precedence and compiles their conditions. */
export function toSelection(integrations: readonly Integration[]): Selection {
  const ordered = integrations.filter(({ active }) => active).sort(byPrecedence);
  const candidates = Map.groupBy(
    ordered.map((integration) => ({ integration, condition: readCondition(integration.condition) })),
    ({ integration }) => integration.channel,
  );
  return { byId: new Map(integrations.map((integration) => [integration.id, integration])), candidates };
}

/** Orders by priority, then by age, oldest first. */
function byPrecedence(one: Integration, other: Integration): number {
  if (one.priority !== other.priority) return one.priority - other.priority;
  const age = one.createdAt.getTime() - other.createdAt.getTime();
  return age !== 0 ? age : one.id < other.id ? -1 : 1;
}

/**
 * Selects the first integration that is not excluded, whose provider is acceptable and whose condition matches. An
 * integration whose condition fails is skipped: an error must never route a message to an unintended provider.
 */
export function chooseIntegration(
  { candidates }: Selection,
  channel: Channel,
  values: ConditionValues,
  except: ReadonlySet<string>,
  accepts: (providerKey: string) => boolean,
): Integration | SelectionFailure {
  let fault: SelectionFailure = "none_active";
  for (const { integration, condition } of candidates.get(channel) ?? []) {
    if (except.has(integration.id) || !accepts(integration.providerKey)) continue;
    const matches = matchesCondition(condition, values);
    if (matches === true) return integration;
    if (matches === "failed") fault = "condition_error";
    else if (fault === "none_active") fault = "condition_no_match";
  }
  return fault;
}
