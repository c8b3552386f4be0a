import { hash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { canonicalJson } from "../../platform/crypto/index.ts";
import type { Stamps } from "../../platform/records/index.ts";
import type { Pool, StoredPool } from "./domain/pool.ts";
import type { Recipient } from "./domain/recipient.ts";
import type { Rule } from "./domain/rule.ts";
import type { PoolSnapshot } from "./domain/snapshot.ts";
import type { LoadedPool } from "./snapshot-store.ts";

type Content = Omit<PoolSnapshot, "digest">;

type Dated<T> = { readonly [K in keyof T]: T[K] extends Date ? string : T[K] };

/** A snapshot as JSON, with nothing lost. */
export interface SnapshotBody extends Omit<Content, "pool" | "recipients" | "rules"> {
  readonly pool: Dated<Pool>;
  readonly recipients: readonly Dated<Recipient>[];
  readonly rules: readonly Dated<Rule>[];
}

const recipientsAtOnce = 500;

/** Makes a snapshot of a pool that was read. Others get their turn meanwhile: a large pool takes a while to digest. */
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

/** A snapshot as JSON, to be kept for replays. */
export function snapshotBody({ digest: _, ...content }: PoolSnapshot): SnapshotBody {
  return {
    ...content,
    pool: { ...content.pool, ...stampTexts(content.pool) },
    recipients: content.recipients.map((recipient) => ({
      ...recipient,
      ...stampTexts(recipient),
      availableSince: recipient.availableSince.toISOString(),
    })),
    rules: content.rules.map((rule) => ({ ...rule, ...stampTexts(rule) })),
  };
}

/** The snapshot that a body was made of; its digest is worked out anew. */
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

// A recipient of a large pool stays the same object while others change: its digest is worked out once.
const recipientDigests = new WeakMap<Recipient, string>();

/**
 * Digests the canonical JSON of all that a decision depends on, some recipients at a time. A recipient stands in it as
 * the digest of its own canonical JSON.
 */
function* digesting({ pool, environmentKey, environmentMode, recipients, rules }: Content): Generator<void, string> {
  const { tenantId: _t, description: _d, ...decisive } = withoutStamps(pool);
  const digests: string[] = [];
  for (const [index, recipient] of recipients.entries()) {
    if (index % recipientsAtOnce === recipientsAtOnce - 1) yield;
    digests.push(recipientDigest(recipient));
  }
  const content = {
    pool: { ...decisive, environmentKey, environmentMode },
    recipients: digests,
    rules: rules.map(decisiveOfRule),
  };
  return hash("sha256", canonicalJson(content));
}

function recipientDigest(recipient: Recipient): string {
  const known = recipientDigests.get(recipient);
  if (known !== undefined) return known;
  const { tenantId: _t, poolId: _p, availableSince, ...decisive } = withoutStamps(recipient);
  const digest = hash("sha256", canonicalJson({ ...decisive, availableSince: availableSince.toISOString() }));
  recipientDigests.set(recipient, digest);
  return digest;
}

function decisiveOfRule(rule: Rule) {
  const { tenantId: _t, poolId: _p, ...decisive } = withoutStamps(rule);
  return decisive;
}

function withoutStamps<R extends Stamps>({ createdAt: _c, updatedAt: _u, recordVersion: _v, ...rest }: R) {
  return rest;
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
