import { unreachable } from "../../../../errors/index.ts";
import type { ExplainedStep } from "../../../explainer.ts";
import type { RecipientNames } from "../../pools/index.ts";
import type { ItemOffer } from "../domain/queue-item.ts";

/** Explains each offer of an item: to whom it was made, and how it ended. */
export function offerSteps(offers: readonly ItemOffer[], nameOf: RecipientNames): ExplainedStep[] {
  return offers.map((offer) => ({
    at: offer.endedAt ?? offer.offeredAt,
    code: offer.state === "open" ? "offered" : `offer_${offer.state}`,
    subject: offer.recipientId,
    message: `Offer ${offer.number} to the recipient ${nameOf(offer.recipientId)} ${endOf(offer)}.`,
  }));
}

function endOf({ state, reasonCode, reason }: ItemOffer): string {
  switch (state) {
    case "open":
      return "is open";
    case "accepted":
      return "was accepted";
    case "declined": {
      const why = [reasonCode, reason].filter((text) => text !== "").join(", ");
      return why === "" ? "was declined" : `was declined: ${why}`;
    }
    case "expired":
      return "expired without an answer";
    case "withdrawn":
      return "was withdrawn";
    default:
      return unreachable(state);
  }
}
