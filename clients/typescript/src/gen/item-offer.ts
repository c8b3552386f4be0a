// Generated from the definitions; do not edit.
/** An offer of an item to a recipient, open or ended. */
export type ItemOffer = {
  /** The number of the offer among those of the item, from 1. */
  readonly offer_number: number;
  /** The recipient that it was made to. */
  readonly recipient_id: string;
  /** open, accepted, declined, expired or withdrawn. A withdrawn offer ended without a refusal: an operator assigned the item, or its queue was paused. */
  readonly state: string;
  /** When it was made. */
  readonly offered_at?: string;
  /** When an open offer expires. */
  readonly expires_at?: string;
  /** When it ended. */
  readonly ended_at?: string;
  /** Why it was declined, as a stable code. */
  readonly reason_code: string;
  /** Why it was declined, in words. */
  readonly reason: string;
  /** Who accepted, declined or withdrew it; empty for the service itself. */
  readonly ended_by: string;
};
