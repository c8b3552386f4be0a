import type { SubscriberTokenService } from "../../../../../gen/service/api/subscriber_token_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { fail } from "../../../../errors/index.ts";
import type { Principal } from "../../../../platform/access/index.ts";
import { createSigner } from "../../../../platform/crypto/index.ts";
import { createSignalCache, notFound, requireFound } from "../../../../platform/db/index.ts";
import { isUlid, lowestUlid, ulid, ulidMs } from "../../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { decodeToken, encodeToken, isSubscriberToken, type TokenClaims } from "./token-codec.ts";
import { type SubscriberRef, type TokenState, tokenStore } from "./token-store.ts";

/** Subscriber tokens: created by the tenant's backend, used by the web page of one subscriber. */
export type SubscriberTokens = ReturnType<typeof createSubscriberTokens>;

interface Dependencies extends Pick<PlatformServices, "cacheLoadDb" | "signals" | "clock"> {
  readonly events: EventRecorder;
  readonly secret: Buffer;
}

const defaultTtlS = 900;
/** No token lives longer. */
const lifeMsMax = 3_600_000;
/** How far the clocks of nodes may be apart. */
const skewMsMax = 300_000;
/** How many tokens of a subscriber can be revoked one by one. Every check of a token compares them. */
const revokedMax = 100;
/** The operations that accept subscriber tokens need these. Which ones do is part of their definition. */
const scopes: ReadonlySet<string> = new Set(["notification:read", "notification:write"]);

/** Creates the part of the module that handles tokens. Tokens are signed; nothing is stored for each of them. */
export function createSubscriberTokens({ cacheLoadDb, signals, clock, events, secret }: Dependencies) {
  const signer = createSigner(secret);
  const states = createSignalCache<SubscriberRef, TokenState>({
    signals,
    prefix: "subscriber-tokens:",
    keyOf,
    async readMany(refs) {
      const found = await tokenStore(cacheLoadDb.sql).findMany(refs);
      const byKey = new Map(found.map((state) => [keyOf(state), state]));
      return refs.map((ref) => byKey.get(keyOf(ref)));
    },
  });

  function accept(claims: TokenClaims, state: TokenState | undefined): Principal {
    const isValid = state?.active && state.revocations === claims.revocations && !state.revokedIds.includes(claims.id);
    if (!isValid) {
      throw fail("UNAUTHENTICATED", { public: "The subscriber token was revoked." });
    }
    return {
      tenantId: claims.tenantId,
      subject: `subscriber:${claims.subscriberId}`,
      kind: "subscriber",
      roles: [],
      scopes,
      environmentMode: "any",
      expiresAt: new Date(claims.expiresAtS * 1000),
      subscriberId: claims.subscriberId,
    };
  }

  return {
    handlers: {
      async createSubscriberToken(context, { subscriberId, ttlS = defaultTtlS }) {
        const { sql, tenantId, nowMs } = context;
        const state = requireFound(await tokenStore(sql).find(tenantId, subscriberId), "subscriber");
        if (!state.active) {
          throw fail("FAILED_PRECONDITION", { public: "The subscriber was deleted. Create it again first." });
        }
        const expiresAtS = Math.floor(nowMs / 1000) + ttlS;
        const { revocations } = state;
        const tokenId = ulid(nowMs);
        const token = encodeToken(signer, { tenantId, subscriberId, revocations, expiresAtS, id: tokenId });
        const expiresAt = new Date(expiresAtS * 1000);
        const data = { token_id: tokenId, expires_at: expiresAt.toISOString() };
        await events.record(context, "subscriber.token.created", subscriberId, data);
        return { subscriberId, tokenId, token, expiresAt };
      },

      async revokeSubscriberTokens(context, { subscriberId }) {
        const { sql, tenantId } = context;
        if (!(await tokenStore(sql).revokeAll(tenantId, subscriberId))) throw notFound("subscriber");
        await events.record(context, "subscriber.tokens.revoked", subscriberId, {});
        context.afterCommit(() => states.changed({ tenantId, id: subscriberId }));
        return { subscriberId };
      },

      async revokeSubscriberToken(context, { subscriberId, tokenId }) {
        const { sql, tenantId, nowMs } = context;
        if (!isUlid(tokenId) || ulidMs(tokenId) > nowMs + skewMsMax) throw notFound("subscriber token");
        const lowestId = lowestUlid(nowMs - lifeMsMax - skewMsMax);
        const count = requireFound(
          await tokenStore(sql).revoke(tenantId, subscriberId, tokenId, lowestId),
          "subscriber",
        );
        if (count > revokedMax) {
          const reason = `At most ${revokedMax} tokens of a subscriber can be revoked one by one. Revoke all of them.`;
          throw fail("FAILED_PRECONDITION", { public: reason });
        }
        await events.record(context, "subscriber.token.revoked", subscriberId, { token_id: tokenId });
        context.afterCommit(() => states.changed({ tenantId, id: subscriberId }));
        return { subscriberId, tokenId };
      },
    } satisfies Handlers<typeof SubscriberTokenService>,

    /** The caller with this token; undefined for another kind of credential. Throws UNAUTHENTICATED if it is not valid. */
    authenticate(token: string): Principal | undefined | Promise<Principal> {
      if (!isSubscriberToken(token)) return undefined;
      const claims = decodeToken(signer, token);
      if (claims === undefined) throw fail("UNAUTHENTICATED", { public: "The subscriber token is not valid." });
      if (claims.expiresAtS * 1000 <= clock.now()) {
        throw fail("UNAUTHENTICATED", { public: "The subscriber token has expired." });
      }
      const found = states.get({ tenantId: claims.tenantId, id: claims.subscriberId });
      return found instanceof Promise ? found.then((state) => accept(claims, state)) : accept(claims, found);
    },

    /** Has every node read the state of a subscriber again, after the commit that changed it. */
    changed: (subscriber: SubscriberRef) => states.changed(subscriber),
  };
}

function keyOf({ tenantId, id }: SubscriberRef): string {
  return `${tenantId}:${id}`;
}
