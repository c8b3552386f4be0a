import { createHash } from "node:crypto";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import { effectiveConfig, type PoolSettings } from "../domain/config-settings.ts";
import type { Pool, StoredPool } from "../domain/pool.ts";
import { decodeContent, type PoolContent, withContent, withStrategyOf } from "../domain/pool-content.ts";
import type { Recipient } from "../domain/recipient.ts";
import type { Rule } from "../domain/rule.ts";
import { type PoolSnapshot, withoutStamps } from "../domain/snapshot.ts";
import { chunkRecipients, type RecipientChunk } from "./recipient-chunks.ts";
import type { LoadedCanary, LoadedPool } from "./snapshot-store.ts";

type Content = Omit<PoolSnapshot, "digest" | "canary" | "candidateId">;

type Dated<T> = { readonly [K in keyof T]: T[K] extends Date ? string : T[K] };

/** A complete snapshot as JSON. */
export interface SnapshotBody extends Omit<Content, "pool" | "recipients" | "rules" | "revision"> {
  readonly pool: Dated<Pool>;
  readonly recipients: readonly Dated<Recipient>[];
  readonly rules: readonly Dated<Rule>[];
}

/** A stored snapshot without its recipients; `parts` lists the digests of its recipient chunks. */
export interface SnapshotHead extends Omit<SnapshotBody, "recipients"> {
  readonly parts: readonly string[];
}

/** Creates the snapshot of a loaded pool. It yields to the event loop because digesting a large pool takes long. */
export async function createSnapshot({ pool: stored, recipients, rules, canary }: LoadedPool): Promise<PoolSnapshot> {
  const { environmentKey, environmentMode, revision } = stored;
  const content = { pool: poolOf(stored), environmentKey, environmentMode, recipients, rules, revision };
  const snapshot = await withDigest(content);
  if (canary === undefined) return snapshot;
  const { candidateId, salt, sharePpm } = canary;
  const derived = await withDigest(canaryContent(snapshot, stored.settings, canary));
  return { ...snapshot, canary: { candidateId, salt, sharePpm, snapshot: { ...derived, candidateId } } };
}

/** The pool of a snapshot with the content of a version. Recipients are the same objects, so that their state is shared. */
function contentSnapshot(snapshot: Content, content: PoolContent): Content {
  const { pool, environmentKey, environmentMode, recipients, revision } = snapshot;
  const { tenantId, id: poolId } = pool;
  const rules = content.rules
    .filter(({ enabled }) => enabled)
    .map((rule) => ({ ...rule, tenantId, poolId, updatedAt: rule.createdAt, recordVersion: 1 }));
  return { pool: withContent(pool, content), environmentKey, environmentMode, recipients, rules, revision };
}

/** The pool as a canary sees it. */
function canaryContent(snapshot: Content, settings: PoolSettings, canary: LoadedCanary): Content {
  const content = decodeContent(canary.content);
  if (canary.artifactKind === "routing") return contentSnapshot(snapshot, content);
  // A strategy leaves everything else as it is.
  const live = { strategy: snapshot.pool.strategy, settings, rules: [] };
  return { ...snapshot, pool: withContent(snapshot.pool, withStrategyOf(live, content)) };
}

/** The snapshot of a pool with another content. */
export function deriveSnapshot(snapshot: PoolSnapshot, content: PoolContent): Promise<PoolSnapshot> {
  return withDigest(contentSnapshot(snapshot, content));
}

/** Adds the digest of a content. */
async function withDigest(content: Content): Promise<PoolSnapshot> {
  const steps = digestInSteps(content);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { ...content, digest: value };
    await yieldToEventLoop();
  }
}

/** Encodes a snapshot without its recipients. */
export function encodeSnapshotHead({
  digest: _d,
  canary: _c,
  candidateId: _i,
  revision: _r,
  recipients,
  ...content
}: PoolSnapshot): SnapshotHead {
  return {
    ...content,
    pool: { ...content.pool, ...encodeStamps(content.pool) },
    rules: content.rules.map((rule) => ({ ...rule, ...encodeStamps(rule) })),
    parts: listChunks({ recipients }).map(({ digest }) => digest),
  };
}

export function listChunks({ recipients }: Pick<PoolSnapshot, "recipients">): RecipientChunk[] {
  return Array.from(chunkRecipients(recipients), ({ chunk }) => chunk);
}

export function encodeChunk({ recipients }: RecipientChunk): SnapshotBody["recipients"] {
  return recipients.map((recipient) => ({
    ...recipient,
    ...encodeStamps(recipient),
    availableSince: recipient.availableSince.toISOString(),
  }));
}

/** Decodes a snapshot and recomputes its digest. Config fields that are newer than the snapshot have their defaults. */
export function decodeSnapshot(body: SnapshotBody): PoolSnapshot {
  const content: Content = {
    ...body,
    revision: 0,
    pool: { ...body.pool, ...decodeStamps(body.pool) },
    recipients: body.recipients.map((recipient) => ({
      ...recipient,
      ...decodeStamps(recipient),
      availableSince: new Date(recipient.availableSince),
    })),
    rules: body.rules.map((rule) => ({ ...rule, ...decodeStamps(rule) })),
  };
  const { pool } = content;
  const config = effectiveConfig(pool.config, pool.strategy);
  const steps = digestInSteps(content);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { ...content, pool: { ...pool, config }, digest: value };
  }
}

/**
 * Digests the canonical JSON of everything a decision depends on. A recipient contributes the digest of its own
 * canonical JSON. The generator yields after each newly created chunk.
 */
function* digestInSteps({
  pool,
  environmentKey,
  environmentMode,
  recipients,
  rules,
}: Content): Generator<void, string> {
  const { tenantId: _t, description: _d, ...decisive } = withoutStamps(pool);
  const sha256 = createHash("sha256");
  // Members appear in the order of canonical JSON.
  sha256.update(`{"pool":${canonicalJson({ ...decisive, environmentKey, environmentMode })},"recipients":[`);
  let separator = "";
  for (const { chunk, isNew } of chunkRecipients(recipients)) {
    sha256.update(separator + chunk.digestList);
    separator = ",";
    if (isNew) yield;
  }
  sha256.update(`],"rules":${canonicalJson(rules.map(relevantRuleFields))}}`);
  return sha256.digest("hex");
}

function relevantRuleFields(rule: Rule) {
  const { tenantId: _t, poolId: _p, ...decisive } = withoutStamps(rule);
  return decisive;
}

function encodeStamps({ createdAt, updatedAt }: Stamps) {
  return { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

function decodeStamps({ createdAt, updatedAt }: { createdAt: string; updatedAt: string }) {
  return { createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}

function poolOf({ environmentKey: _k, environmentMode: _m, settings: _s, revision: _r, ...pool }: StoredPool): Pool {
  return pool;
}
