import type { Context } from "../../../../chain/call.ts";
import { Failure, fail, invalid } from "../../../../errors/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { checkConfig, checkRuleCondition, checkRuleReferences } from "../checks/reference-checks.ts";
import type { PoolSettings } from "../domain/config-settings.ts";
import type { PoolId, StoredPool } from "../domain/pool.ts";
import {
  byPosition,
  type ContentRule,
  decodeContent,
  diffContents,
  digestOfText,
  encodeContent,
  type PoolContent,
} from "../domain/pool-content.ts";
import { type NewRule, type RuleId, rulesMax } from "../domain/rule.ts";
import type { Strategy } from "../domain/strategy.ts";
import type { PoolServiceParts } from "../pool-access.ts";
import { poolStore } from "../pool-store.ts";
import { recordPoolVersion } from "./version-recorder.ts";
import { type ActiveVersion, type StoredPoolVersion, versionStore } from "./version-store.ts";

/** Input of a staged version; undefined parts are the pool's. */
export interface NewPoolVersion {
  readonly strategy: Strategy | undefined;
  readonly settings: PoolSettings | undefined;
  /** Rules with the id of the rule that they replace; an empty id is a new rule. */
  readonly rules: readonly (NewRule & { readonly id: string })[] | undefined;
  readonly message: string;
}

const stagedMax = 500;

export type PoolVersionService = ReturnType<typeof createPoolVersionService>;

export function createPoolVersionService({ access, events }: PoolServiceParts) {
  async function getVersion(context: Context, poolId: string, version: number): Promise<StoredPoolVersion> {
    const pool = await access.read(context, poolId);
    const found = await versionStore(context.sql).find(context.tenantId, pool.id, version);
    if (found === undefined) throw notFound("pool version");
    return found;
  }

  /** The active version of a pool. Every pool has one since its creation. */
  async function activeVersion(context: Context, poolId: PoolId): Promise<ActiveVersion> {
    return (await versionStore(context.sql).findActive(context.tenantId, poolId))!;
  }

  /** Writes a content into a locked pool. */
  async function apply(context: Context, pool: StoredPool, content: PoolContent): Promise<ActiveVersion> {
    const { sql, tenantId, nowMs } = context;
    await checkContent(context, pool, content);
    const { strategy, settings } = content;
    await poolStore(sql).update(tenantId, pool.id, { strategy, settings }, undefined, new Date(nowMs));
    await versionStore(sql).replaceRules(tenantId, pool.id, content.rules, new Date(nowMs));
    const active = (await recordPoolVersion(context, pool.id))!;
    const data = { version: active.version, sha256: active.digest };
    await events.record(context, "pool.version_activated", pool.id, data);
    return active;
  }

  return {
    getVersion,
    activeVersion,
    apply,

    async stageVersion(context: Context, poolId: string, input: NewPoolVersion): Promise<StoredPoolVersion> {
      const { sql, tenantId, principal, nowMs } = context;
      const pool = await access.change(context, poolId);
      const store = versionStore(sql);
      if ((await store.countStaged(tenantId, pool.id)) >= stagedMax) {
        throw fail("FAILED_PRECONDITION", { public: `A pool can have at most ${stagedMax} staged versions.` });
      }
      const live = (await store.liveContent(tenantId, pool.id))!;
      const content: PoolContent = {
        strategy: input.strategy ?? live.strategy,
        settings: input.settings ?? live.settings,
        rules: input.rules === undefined ? live.rules : toContentRules(input.rules, live.rules, nowMs),
      };
      await checkContent(context, pool, content);
      const text = encodeContent(content);
      const staged = await store.insert({
        ...{ tenantId, poolId: pool.id, digest: digestOfText(text), content: text, origin: "staged" },
        ...{ message: input.message, createdBy: principal.subject, createdAt: new Date(nowMs) },
      });
      const data = { version: staged.version, sha256: staged.digest };
      await events.record(context, "pool.version_staged", pool.id, data);
      return staged;
    },

    async diffVersions(context: Context, poolId: string, version: number, against: number) {
      const after = await getVersion(context, poolId, version);
      const active = await versionStore(context.sql).findActive(context.tenantId, after.poolId);
      const base = against === 0 ? (active?.version ?? 0) : against;
      const before = await getVersion(context, poolId, base);
      return { against: base, changes: diffContents(decodeContent(before.content), decodeContent(after.content)) };
    },

    async activateVersion(context: Context, poolId: string, version: number, expectedSha256: string) {
      const pool = await access.change(context, poolId);
      const wanted = await getVersion(context, pool.id, version);
      const active = await activeVersion(context, pool.id);
      if (expectedSha256 !== "" && expectedSha256 !== active.digest) {
        throw fail("VERSION_CONFLICT", {
          public: `The pool has version ${active.version} with the digest ${active.digest} now.`,
        });
      }
      if (active.digest !== wanted.digest) await apply(context, pool, decodeContent(wanted.content));
      return wanted;
    },

    /** Why a content cannot be activated; empty if it can be. */
    async problemsOf(context: Context, pool: StoredPool, content: PoolContent): Promise<readonly string[]> {
      try {
        await checkContent(context, pool, content);
        return [];
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return [error.message];
      }
    },
  };
}

/** Rejects a content whose expressions are invalid, or that refers to something that is missing. */
async function checkContent(context: Context, pool: StoredPool, content: PoolContent): Promise<void> {
  await checkConfig(context, pool, content.settings, content.strategy);
  for (const [at, rule] of content.rules.entries()) {
    const prefix = `rules[${at}].`;
    checkRuleCondition(rule, prefix);
    if (rule.action.type === "route" || rule.action.type === "redirect_pool") {
      await checkRuleReferences(context, pool, rule.action, prefix);
    }
  }
}

/** Rules with ids and times of creation. New rules of equal priority keep their order. */
function toContentRules(rules: NonNullable<NewPoolVersion["rules"]>, live: readonly ContentRule[], nowMs: number) {
  if (rules.length > rulesMax) throw invalid("rule_set.rules", "max_items", `must have at most ${rulesMax} rules`);
  const known = new Map<string, ContentRule>(live.map((rule) => [rule.id, rule]));
  const newIds = Array.from(rules, () => ulid(nowMs)).sort();
  const seen = new Set<string>();
  const content = rules.map(({ id, ...rule }, at): ContentRule => {
    const replaced = id === "" ? undefined : known.get(id);
    if (id !== "" && (replaced === undefined || seen.has(id))) {
      const message = "must be the id of a rule of the pool, once, or empty for a new rule";
      throw invalid(`rule_set.rules[${at}].id`, "rule", message);
    }
    seen.add(id);
    return {
      ...rule,
      id: (replaced?.id ?? newIds[at]!) as RuleId,
      createdAt: replaced?.createdAt ?? new Date(nowMs),
    };
  });
  return content.sort(byPosition);
}
