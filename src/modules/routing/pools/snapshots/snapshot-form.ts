import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Pool, StoredPool } from "../domain/pool.ts";
import type { Recipient } from "../domain/recipient.ts";
import type { Rule } from "../domain/rule.ts";
import { type PoolSnapshot, withoutStamps } from "../domain/snapshot.ts";
import { type RecipientPart, recipientParts } from "./recipient-parts.ts";
import type { LoadedPool } from "./snapshot-store.ts";

type Content = Omit<PoolSnapshot, "digest">;

type Dated<T> = { readonly [K in keyof T]: T[K] extends Date ? string : T[K] };

/** A snapshot as JSON, with nothing lost. */
export interface SnapshotBody extends Omit<Content, "pool" | "recipients" | "rules"> {
  readonly pool: Dated<Pool>;
  readonly recipients: readonly Dated<Recipient>[];
  readonly rules: readonly Dated<Rule>[];
}

/** What is stored of a snapshot beside its recipients: the parts that they are stored in, by digest. */
export interface SnapshotHead extends Omit<SnapshotBody, "recipients"> {
  readonly parts: readonly string[];
}

/** Creates the snapshot of a loaded pool. Yields to other work: digesting a large pool takes a while. */
export async function snapshotOf({ pool: stored, recipients, rules }: LoadedPool): Promise<PoolSnapshot> {
  const { environmentKey, environmentMode } = stored;
  const content = { pool: poolOf(stored), environmentKey, environmentMode, recipients, rules };
  const steps = digesting(content);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { ...content, digest: value };
    await turn();
  }
}

/** A snapshot as JSON, apart from its recipients. */
export function snapshotHead({ digest: _, recipients, ...content }: PoolSnapshot): SnapshotHead {
  return {
    ...content,
    pool: { ...content.pool, ...stampTexts(content.pool) },
    rules: content.rules.map((rule) => ({ ...rule, ...stampTexts(rule) })),
    parts: snapshotParts({ recipients }).map(({ digest }) => digest),
  };
}

/** The parts that a snapshot's recipients are stored in. */
export function snapshotParts({ recipients }: Pick<PoolSnapshot, "recipients">): RecipientPart[] {
  return Array.from(recipientParts(recipients), ({ part }) => part);
}

/** The recipients of a part as JSON. */
export function partBody({ recipients }: RecipientPart): SnapshotBody["recipients"] {
  return recipients.map((recipient) => ({
    ...recipient,
    ...stampTexts(recipient),
    availableSince: recipient.availableSince.toISOString(),
  }));
}

/** Restores a snapshot from its JSON and computes its digest again. */
export function snapshotFrom(body: SnapshotBody): PoolSnapshot {
  const content: Content = {
    ...body,
    pool: { ...body.pool, ...stampDates(body.pool) },
    recipients: body.recipients.map((recipient) => ({
      ...recipient,
      ...stampDates(recipient),
      availableSince: new Date(recipient.availableSince),
    })),
    rules: body.rules.map((rule) => ({ ...rule, ...stampDates(rule) })),
  };
  const steps = digesting(content);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { ...content, digest: value };
  }
}

/**
 * Digests the canonical JSON of all that a decision depends on. A recipient is represented by the digest of its own
 * canonical JSON. Recipients are digested in parts, with a pause after each part that is new.
 */
function* digesting({ pool, environmentKey, environmentMode, recipients, rules }: Content): Generator<void, string> {
  const { tenantId: _t, description: _d, ...decisive } = withoutStamps(pool);
  const sha256 = createHash("sha256");
  // The members in the order that canonical JSON puts them in.
  sha256.update(`{"pool":${canonicalJson({ ...decisive, environmentKey, environmentMode })},"recipients":[`);
  let separator = "";
  for (const { part, isNew } of recipientParts(recipients)) {
    sha256.update(separator + part.digestList);
    separator = ",";
    if (isNew) yield;
  }
  sha256.update(`],"rules":${canonicalJson(rules.map(decisiveOfRule))}}`);
  return sha256.digest("hex");
}

function decisiveOfRule(rule: Rule) {
  const { tenantId: _t, poolId: _p, ...decisive } = withoutStamps(rule);
  return decisive;
}

function stampTexts({ createdAt, updatedAt }: Stamps) {
  return { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

function stampDates({ createdAt, updatedAt }: { createdAt: string; updatedAt: string }) {
  return { createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}

function poolOf({ environmentKey: _k, environmentMode: _m, settings: _s, revision: _r, ...pool }: StoredPool): Pool {
  return pool;
}
