import { hash } from "node:crypto";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { Recipient } from "../domain/recipient.ts";
import { withoutStamps } from "../domain/snapshot.ts";

/**
 * Some neighbouring recipients of a snapshot, 128 on average. A change of one recipient leaves all other parts of the
 * pool as they are, so that large pools are digested and stored at the cost of what changed.
 */
export interface RecipientPart {
  readonly recipients: readonly Recipient[];
  /** The digests of the recipients, as the members of a JSON array. */
  readonly digestList: string;
  /** The SHA-256 of `digestList`, as 64 hex digits. */
  readonly digest: string;
}

// Unchanged recipients stay the same objects from one snapshot to the next.
const partsByFirst = new WeakMap<Recipient, RecipientPart>();
const recipientDigests = new WeakMap<Recipient, string>();

/** Divides recipients into parts; tells which of them had to be made. */
export function* recipientParts(
  recipients: readonly Recipient[],
): Generator<{ readonly part: RecipientPart; readonly isNew: boolean }> {
  for (let from = 0; from < recipients.length; ) {
    let to = from + 1;
    while (to < recipients.length && !endsPart(recipients[to - 1]!)) to++;
    const known = partsByFirst.get(recipients[from]!);
    if (known !== undefined && holds(known, recipients, from, to)) yield { part: known, isNew: false };
    else yield { part: makePart(recipients.slice(from, to)), isNew: true };
    from = to;
  }
}

/** Decided by the id alone, so that adding or removing a recipient moves no other boundary. */
function endsPart({ id }: Recipient): boolean {
  return (31 * id.charCodeAt(id.length - 1) + id.charCodeAt(id.length - 2)) % 128 === 0;
}

function holds({ recipients: held }: RecipientPart, recipients: readonly Recipient[], from: number, to: number) {
  if (held.length !== to - from) return false;
  for (let at = 0; at < held.length; at++) if (held[at] !== recipients[from + at]) return false;
  return true;
}

function makePart(recipients: readonly Recipient[]): RecipientPart {
  const digestList = recipients.map((recipient) => `"${recipientDigest(recipient)}"`).join(",");
  const part = { recipients, digestList, digest: hash("sha256", digestList) };
  partsByFirst.set(recipients[0]!, part);
  return part;
}

function recipientDigest(recipient: Recipient): string {
  const known = recipientDigests.get(recipient);
  if (known !== undefined) return known;
  const { tenantId: _t, poolId: _p, availableSince, ...decisive } = withoutStamps(recipient);
  const digest = hash("sha256", canonicalJson({ ...decisive, availableSince: availableSince.toISOString() }));
  recipientDigests.set(recipient, digest);
  return digest;
}
