import type { Channel } from "../../subscribers/index.ts";
import { type Condition, type ConditionValues, conditionHolds, readCondition } from "./condition.ts";
import type { Integration } from "./integration.ts";

/** Why no integration was chosen. */
export type SelectionFault = "none_active" | "condition_no_match" | "condition_error";

interface Candidate {
  readonly integration: Integration;
  readonly condition: Condition;
}

/** A tenant's integrations, ready to be chosen from. */
export interface Selection {
  readonly byId: ReadonlyMap<string, Integration>;
  /** Those in use, the first choice first. */
  readonly candidates: ReadonlyMap<Channel, readonly Candidate[]>;
}

/** Puts integrations in the order of their precedence, channel by channel. */
export function selectionOf(integrations: readonly Integration[]): Selection {
  const ordered = integrations.filter(({ active }) => active).sort(byPrecedence);
  const candidates = Map.groupBy(
    ordered.map((integration) => ({ integration, condition: readCondition(integration.condition) })),
    ({ integration }) => integration.channel,
  );
  return { byId: new Map(integrations.map((integration) => [integration.id, integration])), candidates };
}

/** The lower priority wins, then the older one. */
function byPrecedence(one: Integration, other: Integration): number {
  if (one.priority !== other.priority) return one.priority - other.priority;
  const age = one.createdAt.getTime() - other.createdAt.getTime();
  return age !== 0 ? age : one.id < other.id ? -1 : 1;
}

/**
 * The first integration whose condition holds, of those that were not tried already and whose provider is acceptable. One whose condition cannot be told is passed over: an error must never route a message to a provider that it was not
 * meant for.
 */
export function chooseIntegration(
  { candidates }: Selection,
  channel: Channel,
  values: ConditionValues,
  except: ReadonlySet<string>,
  accepts: (providerKey: string) => boolean,
): Integration | SelectionFault {
  let fault: SelectionFault = "none_active";
  for (const { integration, condition } of candidates.get(channel) ?? []) {
    if (except.has(integration.id) || !accepts(integration.providerKey)) continue;
    const holds = conditionHolds(condition, values);
    if (holds === true) return integration;
    if (holds === "failed") fault = "condition_error";
    else if (fault === "none_active") fault = "condition_no_match";
  }
  return fault;
}
