export interface RecipientPause {
  /** request: a caller paused it. anomaly: anomaly detection did. */
  readonly cause: "request" | "anomaly";
  /** In words, for people. */
  readonly reason: string;
  /** The subject of the caller, or `anomaly-detection`. */
  readonly actor: string;
  /** The anomaly that paused it; empty for none. */
  readonly anomalyId: string;
  readonly since: Date;
  /** When it is resumed automatically; null for never. */
  readonly until: Date | null;
}

/** The actor of pauses that anomaly detection begins and ends. */
export const anomalyActor = "anomaly-detection";

export interface AutomaticPause extends Pick<RecipientPause, "reason" | "anomalyId" | "until"> {
  readonly recipientId: string;
}

/** A pause in words. */
export function describePause({ actor, reason, until }: RecipientPause): string {
  const why = reason === "" ? "" : ` (${reason})`;
  const end = until === null ? "Somebody has to resume it." : `It is resumed automatically at ${until.toISOString()}.`;
  return `It was paused by ${actor}${why}. ${end}`;
}

export function pauseEventData(poolId: string, { cause, reason, actor, anomalyId, until }: RecipientPause) {
  return { pool_id: poolId, cause, reason, actor, anomaly_id: anomalyId, until: until?.toISOString() ?? "" };
}
