import { type Failure, fail } from "../../../errors/index.ts";
import { outcomeOf, type RoutedItem } from "./route-outcome.ts";

/** Returns the error of a rejected item if its caller asked for one; undefined otherwise. */
export function rejectionOf(routed: RoutedItem, dryRun: boolean): Failure | undefined {
  if (!routed.input.rejectAsError || outcomeOf(routed) !== "rejected") return undefined;
  const { id, evidence, verdict } = routed;
  const { message, retryAfterMs, reason } = evidence;
  const headers: Record<string, string> =
    retryAfterMs === 0 ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  const details = { headers, extra: { reason, ...(!dryRun && { decision_id: id }) } };
  if (verdict?.status === "rejected") {
    return fail("ROUTING_THROTTLED", { ...details, public: "The throttle of the pool rejected the item." });
  }
  const said = reason === "rule_reject" ? message : "";
  return fail("ROUTING_FAILED", { ...details, public: `A rule rejected the item (${reason}).${said && ` ${said}`}` });
}
