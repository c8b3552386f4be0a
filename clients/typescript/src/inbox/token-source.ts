/** A token and when it expires, as the service returns it. */
export interface SubscriberToken {
  readonly token: string;
  /** RFC 3339. Without it, the token is used until the service refuses it. */
  readonly expires_at?: string;
}

/** Gets a new token of the subscriber from your backend. */
export type GetToken = () => Promise<SubscriberToken>;

/** Keeps the current token. */
export interface TokenSource {
  /** The current token; a new one shortly before it expires. */
  current(): Promise<string>;
  /** Has the next call get a new token. */
  discard(): void;
}

/** A token that expires sooner is replaced, so that it does not expire on its way. */
const marginMs = 20_000;

/** Creates the source. Callers that need a new token at the same time share one. */
export function createTokenSource(getToken: GetToken): TokenSource {
  let held: Promise<SubscriberToken> | undefined;
  let expiresAtMs = Number.POSITIVE_INFINITY;

  function renew(): Promise<SubscriberToken> {
    const renewed = getToken().then((token) => {
      expiresAtMs = token.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(token.expires_at);
      return token;
    });
    expiresAtMs = Number.POSITIVE_INFINITY;
    held = renewed;
    renewed.catch(() => {
      if (held === renewed) held = undefined;
    });
    return renewed;
  }

  return {
    async current() {
      const isUsable = held !== undefined && expiresAtMs - Date.now() > marginMs;
      return (await (isUsable ? held! : renew())).token;
    },
    discard() {
      held = undefined;
    },
  };
}
