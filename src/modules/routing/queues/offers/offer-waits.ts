import { createWaits, type WaitParts } from "../waits/waits.ts";
import { findOffered, type Offeree } from "./offer-store.ts";

/** The callers of this node that wait for offers. */
export type OfferWaits = ReturnType<typeof createOfferWaits>;

export function createOfferWaits({ sql, ...parts }: WaitParts) {
  const waits = createWaits<Offeree>({
    ...parts,
    name: "offer",
    keyOf: ({ tenantId, poolId, recipientId }) => `${tenantId}:${poolId}:${recipientId}`,
    find: (offerees) => findOffered(sql, offerees),
    tooMany: "Too many callers wait for offers. Repeat the call later, or list the offers without wait_s.",
  });
  return {
    ...waits,
    /** Announces offers that were made on this node. Called after the commit. */
    announce(made: readonly Offeree[]): void {
      waits.announce(made.flatMap((offeree) => [offeree, { ...offeree, recipientId: "" }]));
    },
  };
}
