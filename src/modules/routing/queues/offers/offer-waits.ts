import { fail } from "../../../../errors/index.ts";
import type { Signals, Sql } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { createWaits, type WaitLimits } from "../waits/waits.ts";
import { findOffered, type Offeree } from "./offer-store.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly signals: Signals;
  readonly log: Pick<Log, "warn">;
  readonly limits?: WaitLimits;
}

/** The callers of this node that wait for offers. */
export type OfferWaits = ReturnType<typeof createOfferWaits>;

export function createOfferWaits({ sql, ...parts }: Dependencies) {
  const waits = createWaits<Offeree>({
    ...parts,
    name: "offer",
    keyOf: ({ tenantId, poolId, recipientId }) => `${tenantId}:${poolId}:${recipientId}`,
    find: (offerees) => findOffered(sql, offerees),
    tooMany: () =>
      fail("RATE_LIMITED", {
        public: "Too many callers wait for offers. Repeat the call later, or list the offers without wait_s.",
        headers: { "retry-after": "1" },
      }),
  });
  return {
    ...waits,
    /** Announces offers that were made on this node. Called after the commit. */
    announce(made: readonly Offeree[]): void {
      waits.announce(made.flatMap((offeree) => [offeree, { ...offeree, recipientId: "" }]));
    },
  };
}
