/** How an audited action ended. */
export type AuditOutcome = "allowed" | "denied" | "failed" | "succeeded";

/** What a caller reports; number, time and hashes are added. */
export interface AuditEntry {
  readonly tenant_id: string;
  /** The principal's subject. */
  readonly actor: string;
  readonly actor_kind: string;
  readonly operation: string;
  /** What was acted on: a resource type, or a type and id such as `pool/01J…`. */
  readonly resource: string;
  readonly action: string;
  readonly outcome: AuditOutcome;
  readonly error_code?: string;
  readonly request_id: string;
  readonly remote_address: string;
  /** Anything else, JSON-like; redacted like the rest. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An entry as a line holds it, before it is chained. */
export interface NumberedEntry extends AuditEntry {
  readonly seq: number;
  readonly time: string;
}

/** An entry as a chained line holds it. */
export interface ChainedEntry extends NumberedEntry {
  readonly prev_hash: string;
  readonly hash: string;
}

/** The operation of the entry that records a torn line, see `file-tail.ts`. */
export const recoverOperation = "audit.recover";
