/**
 * A lease token names the run of its task and whether its environment is production, so that a report needs no read
 * before it is applied. It proves nothing by itself: a report only takes effect if the stored token is the same.
 */
export interface LeaseToken {
  /** Empty if the run was not known when the lease was reserved. */
  readonly runId: string;
  readonly inProduction: boolean;
}

const pattern = /^([0-9A-Z]{0,26})\.([pn])[\w-]{8,32}$/;

/** The part of a token after the run id. */
export function tokenSuffix(inProduction: boolean, random: string): string {
  return `.${inProduction ? "p" : "n"}${random}`;
}

/** Parses a token; undefined if it is not one. */
export function parseToken(token: string): LeaseToken | undefined {
  const match = pattern.exec(token);
  return match === null ? undefined : { runId: match[1]!, inProduction: match[2] === "p" };
}
