import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Meters } from "../meters/index.ts";
import type { Plans } from "../plans/index.ts";
import type { Period, Segment } from "../subscriptions/index.ts";
import { type Draft, totalMax } from "./domain/invoice.ts";
import { type RatedSegment, rateLines, totalOf } from "./domain/invoice-lines.ts";

interface Dependencies {
  readonly plans: Pick<Plans, "findVersions">;
  readonly meters: Pick<Meters, "aggregateMany" | "watermark">;
}

/** Calculates what a period with some segments costs, given the usage so far. */
export type Calculate = (
  sql: Sql,
  tenantId: TenantId,
  period: Period,
  segments: readonly Segment[],
  nowMs: number,
) => Promise<Draft>;

/** Creates the calculation, which previews and invoices share. */
export function createCalculation({ plans, meters }: Dependencies): Calculate {
  return async (sql, tenantId, period, segments, nowMs) => {
    const versions = await plans.findVersions(sql, segments);
    const termsOf = new Map(versions.map(({ planKey, version, terms }) => [`${planKey}@${version}`, terms]));
    const whole = { fromMs: period.startsAt.getTime(), untilMs: period.endsAt.getTime() };
    const rated: RatedSegment[] = segments.map(({ planKey, planVersion, startsAt, endsAt }) => ({
      ...{ planKey, planVersion, terms: termsOf.get(`${planKey}@${planVersion}`)! },
      fromMs: startsAt.getTime(),
      untilMs: endsAt?.getTime() ?? whole.untilMs,
    }));
    const keyOf = (meterKey: string, fromMs: number, untilMs: number) => `${meterKey}|${fromMs}|${untilMs}`;
    const wanted = rated.flatMap(({ terms, fromMs, untilMs }) => {
      const from = new Date(Math.max(fromMs, whole.fromMs));
      const until = new Date(Math.min(untilMs, whole.untilMs));
      return terms.prices.flatMap(({ meterKey }) => (meterKey === "" ? [] : [{ meterKey, from, until }]));
    });
    const quantities = await meters.aggregateMany(sql, tenantId, wanted);
    const usage = new Map(
      wanted.map(({ meterKey, from, until }, at) => [
        keyOf(meterKey, from.getTime(), until.getTime()),
        quantities[at]!,
      ]),
    );
    const lines = rateLines(
      whole,
      rated,
      (meterKey, part) => usage.get(keyOf(meterKey, part.fromMs, part.untilMs)) ?? 0n,
    );
    const total = totalOf(lines);
    if (total > totalMax || lines.some(({ quantity }) => quantity > totalMax)) {
      throw fail("FAILED_PRECONDITION", { public: "The usage or the total is too large for an invoice." });
    }
    const asOf = new Date(nowMs);
    const counted = (await meters.watermark(sql))?.countedUntil ?? period.startsAt;
    return { currency: period.currency, lines, total, asOf, watermark: counted < asOf ? counted : asOf };
  };
}
