import { fail } from "../../../../errors/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import type { Capacities, LeaseRequest } from "./lease-request.ts";

/** The part of a request that a worker which names no recipient may lease. */
export type WholePoolScope = Pick<LeaseRequest, "unassigned" | "capacities" | "plainOnly">;

/** The actions of rules that restrict the recipients of an item. */
const restrictive: ReadonlySet<string> = new Set(["require", "route"]);

const scopes = new WeakMap<PoolSnapshot, WholePoolScope>();

/**
 * Determines what a worker gets that names no recipient. Items with a recipient fulfil the pool's rules and their own
 * requirements, so such a worker gets them within the capacity of their recipients. An item without a recipient is only
 * leased in a pool without recipients, because in other pools it waits for one that may take it. Throws where a recipient
 * must be named.
 */
export function wholePoolScope(snapshot: PoolSnapshot): WholePoolScope {
  const known = scopes.get(snapshot);
  if (known !== undefined) return known;
  const refusal = refusalOf(snapshot);
  if (refusal !== undefined) throw fail("RECIPIENT_REQUIRED", { public: refusal });
  const { pool, recipients } = snapshot;
  const hasRecipients = recipients.length > 0;
  const scope: WholePoolScope = {
    // In a manual pool, operators assign the items.
    unassigned: pool.strategy !== "manual" && !hasRecipients,
    capacities: capacitiesOf(snapshot),
    plainOnly: !hasRecipients,
  };
  scopes.set(snapshot, scope);
  return scope;
}

function capacitiesOf({ recipients }: PoolSnapshot): Capacities | undefined {
  const limited = recipients.filter(({ capacity }) => capacity > 0);
  return limited.length === 0 ? undefined : new Map(limited.map(({ id, capacity }) => [id, capacity]));
}

function refusalOf({ pool, recipients, rules }: PoolSnapshot): string | undefined {
  if (pool.config.reservation !== undefined) {
    return `The pool ${pool.name} offers its items to recipients: list the offers of a recipient and accept them, see GET /api/queues/${pool.id}/offers.`;
  }
  if (pool.strategy === "first_accept" && recipients.length > 0) {
    return `The recipients of the pool ${pool.name} accept items themselves: set recipient_id to the recipient that the worker serves.`;
  }
  const rule = recipients.length > 0 ? undefined : rules.find(({ action }) => restrictive.has(action.type));
  if (rule === undefined) return undefined;
  return `The rule ${rule.name} of the pool ${pool.name} decides which recipients may take items: add recipients, then lease with or without recipient_id.`;
}
