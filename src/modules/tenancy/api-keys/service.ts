import { randomBytes } from "node:crypto";
import bcrypt from "bcrypt";
import type { Context } from "../../../chain/call.ts";
import { keyFormat } from "../../../config/index.ts";
import { fail, invalid } from "../../../errors/index.ts";
import {
  beyondCeiling,
  type Principal,
  roleGrants,
  type TenantId,
  unknownRole,
} from "../../../platform/access/index.ts";
import { type Database, lockFor, requireFound, type Sql, type TenantChanges } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import { nearestName } from "../../../platform/text/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import { type ApiKey, type OwnerAccess, principalOf, type StoredApiKey, statusOf } from "./domain/api-key.ts";
import { apiKeyStore } from "./store.ts";

export interface NewApiKey
  extends Pick<ApiKey, "name">,
    Partial<Pick<ApiKey, "roles" | "scopes" | "environmentMode" | "maxRps">> {
  readonly expiresAt?: Date | undefined;
}

/**
 * Finds the access of a key's owner; undefined if the owner is empty or not a member. `isLocked` keeps the member as it is until the
 * transaction ends.
 */
export type OwnerFinder = (
  sql: Sql,
  tenantId: TenantId,
  subject: string,
  isLocked?: boolean,
) => Promise<OwnerAccess | undefined>;

export interface ApiKeyParts {
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  readonly findOwner: OwnerFinder;
  readonly bcryptCost: number;
  /** The scopes that a key can be granted. */
  readonly scopes: ReadonlySet<string>;
}

/** Context for issuing a key. Background work, which has no call, provides it too. */
export type IssueContext = EventContext & { readonly principal: Pick<Principal, "subject"> };

/** The `createdBy` of bootstrap keys. */
const bootstrapCreator = "bootstrap";

/** The ownership of a new key. */
type Ownership = Pick<ApiKey, "owner" | "tokenRoles">;

/** The ownership of keys that come from outside of their tenant. */
const unowned: Ownership = { owner: "", tokenRoles: [] };

export type ApiKeyService = ReturnType<typeof createApiKeyService>;

export function createApiKeyService({ changes, events, findOwner, bcryptCost, scopes: known }: ApiKeyParts) {
  async function store(
    sql: Sql,
    tenantId: TenantId,
    input: NewApiKey,
    text: string,
    creation: Ownership & Pick<ApiKey, "createdBy">,
    nowMs: number,
  ) {
    const [, prefix, secret] = keyFormat.exec(text)!;
    return apiKeyStore(sql).insert({
      tenantId,
      id: ulid(nowMs),
      name: input.name,
      prefix: prefix!,
      secretHash: await bcrypt.hash(secret!, bcryptCost),
      roles: input.roles ?? [],
      scopes: input.scopes ?? [],
      environmentMode: input.environmentMode ?? "any",
      expiresAt: input.expiresAt ?? null,
      maxRps: input.maxRps ?? 0,
      lastUsedAt: null,
      ...creation,
      revokedAt: null,
      revokedBy: "",
      ...newStamps(nowMs),
    });
  }

  async function renewSecret(sql: Sql, found: StoredApiKey, text: string, nowMs: number): Promise<void> {
    const secret = keyFormat.exec(text)![2]!;
    if (found.createdBy !== bootstrapCreator || (await bcrypt.compare(secret, found.secretHash))) return;
    await apiKeyStore(sql).replaceSecret(
      found.tenantId,
      found.id,
      await bcrypt.hash(secret, bcryptCost),
      new Date(nowMs),
    );
    await changes.record(sql, found.tenantId);
  }

  /** Creates a key without an authorization check, which is the caller's responsibility. */
  async function issue(context: IssueContext, tenantId: TenantId, input: NewApiKey, ownership = unowned) {
    const kind = input.environmentMode === "non_production_only" ? "test" : "live";
    const text = createKeyText(kind, context.nowMs);
    const creation = { createdBy: context.principal.subject, ...ownership };
    const key = await store(context.sql, tenantId, input, text, creation, context.nowMs);
    const { name, prefix, roles, scopes } = key;
    await events.record(context, "api_key.created", key.id, { name, prefix, roles, scopes }, tenantId);
    return { key, secret: text };
  }

  /**
   * Whom a key of the caller belongs to: the caller, or the owner of the caller's key. The owner's membership is locked, so that
   * a suspension at the same time either revokes the new key or prevents it.
   */
  async function ownershipFor({ sql, tenantId, principal }: Context): Promise<Ownership> {
    const { kind, subject, sessionId } = principal;
    const key = kind === "api_key" ? await apiKeyStore(sql).find(tenantId, subject.slice("key:".length)) : undefined;
    const owner = kind === "user" ? subject : (key?.owner ?? "");
    const found = await findOwner(sql, tenantId, owner, true);
    if (found?.status === "suspended" || found?.status === "removed") {
      throw fail("UNAUTHENTICATED", { public: `The member is ${found.status}.` });
    }
    if (kind !== "user") return { owner, tokenRoles: key?.tokenRoles ?? [] };
    const given = sessionId === undefined ? principal.roles : [];
    const tokenRoles = given.filter((role) => !found?.roles.includes(role) && unknownRole([role]) < 0);
    return { owner, tokenRoles };
  }

  return {
    issue,

    /** Stores the operator's bootstrap key as an admin key. If it exists already, replaces its secret. */
    async ensureBootstrapKey(db: Database, tenantId: TenantId, text: string, nowMs: number): Promise<void> {
      const [, prefix] = keyFormat.exec(text)!;
      await db.transaction(async (tx) => {
        await lockFor(tx, "bootstrap_key", prefix!);
        const found = await apiKeyStore(tx).findByPrefix(prefix!);
        if (found !== undefined) return renewSecret(tx, found, text, nowMs);
        const creation = { createdBy: bootstrapCreator, ...unowned };
        await store(tx, tenantId, { name: "bootstrap", roles: ["admin"] }, text, creation, nowMs);
      });
    },

    async createApiKey(context: Context, input: NewApiKey): Promise<{ key: ApiKey; secret: string }> {
      const unknown = unknownRole(input.roles ?? []);
      if (unknown >= 0) {
        throw invalid(`roles[${unknown}]`, "role", `must be one of ${Object.keys(roleGrants).join(", ")}`);
      }
      if (input.expiresAt !== undefined && input.expiresAt.getTime() <= context.nowMs) {
        throw invalid("expires_at", "future", "must be in the future (for example: 2030-01-31T00:00:00Z)");
      }
      const { roles = [], scopes = [], environmentMode = "any" } = input;
      requireKnownScopes(scopes, known);
      const expiresAt = input.expiresAt ?? context.principal.expiresAt;
      const beyond = beyondCeiling(context.principal, { roles, scopes, environmentMode, expiresAt });
      if (beyond !== undefined) throw fail("PERMISSION_DENIED", { public: beyond });
      const ownership = await ownershipFor(context);
      const maxRps = lowerLimit(input.maxRps, context.principal.maxRps);
      return issue(context, context.tenantId, { ...input, expiresAt, maxRps }, ownership);
    },

    /** The access that a key gives at the moment; undefined if it is not valid any more. */
    async access(sql: Sql, tenantId: TenantId, id: string, nowMs: number): Promise<Principal | undefined> {
      const key = await apiKeyStore(sql).find(tenantId, id);
      if (key === undefined || statusOf(key, nowMs) !== "active") return undefined;
      return principalOf(key, await findOwner(sql, tenantId, key.owner));
    },

    /** Revokes the keys that a person owns: those that the person created, those that these created, and so on. */
    async revokeOwnedBy(context: EventContext, owners: readonly string[], by: string): Promise<number> {
      const { sql, tenantId, nowMs } = context;
      const revoked = await apiKeyStore(sql).revokeOwnedBy(tenantId, owners, by, new Date(nowMs));
      if (revoked.length === 0) return 0;
      await changes.invalidate(context);
      for (const { id, name, prefix } of revoked) await events.record(context, "api_key.revoked", id, { name, prefix });
      return revoked.length;
    },

    /** The ids of the keys that a person owns. */
    listOwnedBy: (sql: Sql, tenantId: TenantId, owners: readonly string[]) =>
      apiKeyStore(sql).listOwnedBy(tenantId, owners),

    async getApiKey({ sql, tenantId }: Context, id: string): Promise<ApiKey> {
      return requireFound(await apiKeyStore(sql).find(tenantId, id), "API key");
    },

    async revokeApiKey(context: Context, id: string): Promise<ApiKey> {
      const { sql, tenantId, principal, nowMs } = context;
      const revoked = await apiKeyStore(sql).revoke(tenantId, id, principal.subject, new Date(nowMs));
      // Revoking again changes nothing.
      if (revoked === undefined) return this.getApiKey(context, id);
      await changes.invalidate(context);
      await events.record(context, "api_key.revoked", id, { name: revoked.name, prefix: revoked.prefix });
      return revoked;
    },
  };
}

/** The lower of two rate limits, of which each can be missing. */
function lowerLimit(own = 0, creators = 0): number {
  return own === 0 || creators === 0 ? own || creators : Math.min(own, creators);
}

/** Rejects a scope that no operation requires, because it is most likely a typing error. */
function requireKnownScopes(scopes: readonly string[], known: ReadonlySet<string>): void {
  const at = scopes.findIndex((scope) => !known.has(scope));
  if (at < 0) return;
  const near = nearestName(scopes[at]!, [...known]);
  const advice = near === undefined ? "GET /api/_meta/services lists all scopes" : `did you mean ${near}?`;
  throw invalid(
    `scopes[${at}]`,
    "scope",
    `must be a scope that an operation requires (for example: event:read); ${advice}`,
  );
}

/** Creates the text of a new key: `sk_<env>_<key id>_<secret>`. */
export function createKeyText(environment: string, nowMs: number): string {
  return `sk_${environment}_${ulid(nowMs).toLowerCase()}_${randomBytes(24).toString("base64url")}`;
}
