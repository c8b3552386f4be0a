import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CreateSubscriberTokenResponseSchema,
  RevokeSubscriberTokensResponseSchema,
  type SubscriberTokenService,
} from "../../../../../gen/service/api/subscriber_token_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { fail } from "../../../../errors/index.ts";
import type { Principal } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import { createSigner } from "../../../../platform/crypto/index.ts";
import { createSignalCache, type Database, notFound, type Signals } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { decodeToken, encodeToken, isSubscriberToken, type TokenClaims } from "./token-codec.ts";
import { type SubscriberRef, type TokenState, tokenStore } from "./token-store.ts";

/** Subscriber tokens: created by the tenant's backend, used by the web page of one subscriber. */
export interface SubscriberTokens {
  readonly handlers: Handlers<typeof SubscriberTokenService>;
  /** The caller with this token; undefined for another kind of credential. Throws UNAUTHENTICATED if it is not valid. */
  authenticate(token: string): Principal | undefined | Promise<Principal>;
  /** Has every node read the state of a subscriber again, after the commit that changed it. */
  changed(subscriber: SubscriberRef): void;
}

interface Parts {
  readonly side: Database;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly secret: Buffer;
}

const defaultTtlS = 900;
/** The operations that accept subscriber tokens need these. Which ones do is part of their definition. */
const scopes: ReadonlySet<string> = new Set(["notification:read", "notification:write"]);

/** Creates the part of the module that handles tokens. Tokens are signed; nothing is stored for each of them. */
export function createSubscriberTokens({ side, signals, clock, events, secret }: Parts): SubscriberTokens {
  const signer = createSigner(secret);
  const states = createSignalCache<SubscriberRef, TokenState>({
    signals,
    prefix: "subscriber-tokens:",
    keyOf,
    async readMany(refs) {
      const found = await tokenStore(side.sql).findMany(refs);
      const byKey = new Map(found.map((state) => [keyOf(state), state]));
      return refs.map((ref) => byKey.get(keyOf(ref)));
    },
  });

  function accept(claims: TokenClaims, state: TokenState | undefined): Principal {
    if (state === undefined || !state.active || state.revocations !== claims.revocations) {
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
        const state = await tokenStore(sql).find(tenantId, subscriberId);
        if (state === undefined) throw notFound("subscriber");
        if (!state.active) {
          throw fail("FAILED_PRECONDITION", { public: "The subscriber was deleted. Create it again first." });
        }
        const expiresAtS = Math.floor(nowMs / 1000) + ttlS;
        const token = encodeToken(signer, { tenantId, subscriberId, revocations: state.revocations, expiresAtS });
        const expiresAt = new Date(expiresAtS * 1000);
        const data = { expires_at: expiresAt.toISOString() };
        await events.record(context, "subscriber.token.created", subscriberId, data);
        return create(CreateSubscriberTokenResponseSchema, {
          ...{ subscriberId, token },
          expiresAt: timestampFromDate(expiresAt),
        });
      },

      async revokeSubscriberTokens(context, { subscriberId }) {
        const { sql, tenantId } = context;
        if (!(await tokenStore(sql).revokeAll(tenantId, subscriberId))) throw notFound("subscriber");
        await events.record(context, "subscriber.tokens.revoked", subscriberId, {});
        context.afterCommit(() => states.changed({ tenantId, id: subscriberId }));
        return create(RevokeSubscriberTokensResponseSchema, { subscriberId });
      },
    },

    authenticate(token) {
      if (!isSubscriberToken(token)) return undefined;
      const claims = decodeToken(signer, token);
      if (claims === undefined) throw fail("UNAUTHENTICATED", { public: "The subscriber token is not valid." });
      if (claims.expiresAtS * 1000 <= clock.now()) {
        throw fail("UNAUTHENTICATED", { public: "The subscriber token has expired." });
      }
      const found = states.get({ tenantId: claims.tenantId, id: claims.subscriberId });
      return found instanceof Promise ? found.then((state) => accept(claims, state)) : accept(claims, found);
    },

    changed: (subscriber) => states.changed(subscriber),
  };
}

function keyOf({ tenantId, id }: SubscriberRef): string {
  return `${tenantId}:${id}`;
}
