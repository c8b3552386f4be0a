import { hash } from "node:crypto";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { Recipient } from "../domain/recipient.ts";
import { withoutStamps } from "../domain/snapshot.ts";

/**
 * A run of adjacent recipients of a snapshot, 128 on average. A change of one recipient leaves all other chunks
 * unchanged, so the cost of digesting and storing a large pool depends only on what changed.
 */
export interface RecipientChunk {
  readonly recipients: readonly Recipient[];
  /** The digests of the recipients, as the elements of a JSON array. */
  readonly digestList: string;
  /** The SHA-256 of `digestList`, as 64 hex digits. */
  readonly digest: string;
}

// Unchanged recipients are the same objects in consecutive snapshots.
const chunksByFirst = new WeakMap<Recipient, RecipientChunk>();
const recipientDigests = new WeakMap<Recipient, string>();

/** Divides recipients into chunks and reports which of them are new. */
export function* chunkRecipients(
  recipients: readonly Recipient[],
): Generator<{ readonly chunk: RecipientChunk; readonly isNew: boolean }> {
  for (let from = 0; from < recipients.length; ) {
    let to = from + 1;
    while (to < recipients.length && !endsChunk(recipients[to - 1]!)) to++;
    const known = chunksByFirst.get(recipients[from]!);
    if (known !== undefined && holds(known, recipients, from, to)) yield { chunk: known, isNew: false };
    else yield { chunk: createChunk(recipients.slice(from, to)), isNew: true };
    from = to;
  }
}

/** Boundaries depend only on ids, so adding or removing a recipient moves no other boundary. */
function endsChunk({ id }: Recipient): boolean {
  return (31 * id.charCodeAt(id.length - 1) + id.charCodeAt(id.length - 2)) % 128 === 0;
}

function holds({ recipients: held }: RecipientChunk, recipients: readonly Recipient[], from: number, to: number) {
  if (held.length !== to - from) return false;
  for (let at = 0; at < held.length; at++) if (held[at] !== recipients[from + at]) return false;
  return true;
}

function createChunk(recipients: readonly Recipient[]): RecipientChunk {
  const digestList = recipients.map((recipient) => `"${digestRecipient(recipient)}"`).join(",");
  const chunk = { recipients, digestList, digest: hash("sha256", digestList) };
  chunksByFirst.set(recipients[0]!, chunk);
  return chunk;
}

function digestRecipient(recipient: Recipient): string {
  const known = recipientDigests.get(recipient);
  if (known !== undefined) return known;
  const { tenantId: _t, poolId: _p, availableSince, ...decisive } = withoutStamps(recipient);
  const digest = hash("sha256", canonicalJson({ ...decisive, availableSince: availableSince.toISOString() }));
  recipientDigests.set(recipient, digest);
  return digest;
}
