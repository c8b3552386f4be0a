/** The outcome of an audited action. */
export type AuditOutcome = "allowed" | "denied" | "failed" | "succeeded";

/** An entry as the caller reports it, without sequence number, time and hashes. */
export interface AuditEntry {
  readonly tenant_id: string;
  /** The principal's subject. */
  readonly actor: string;
  readonly actor_kind: string;
  readonly operation: string;
  /** The affected resource: a resource type, or a type and id such as `pool/01J…`. */
  readonly resource: string;
  readonly action: string;
  readonly outcome: AuditOutcome;
  readonly error_code?: string;
  readonly request_id: string;
  readonly remote_address: string;
  /** Further JSON-like data; redacted like the rest. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An entry with its sequence number and time, without hashes. */
export interface NumberedEntry extends AuditEntry {
  readonly seq: number;
  readonly time: string;
}

/** An entry with its hashes, as written to a chained line. */
export interface ChainedEntry extends NumberedEntry {
  readonly prev_hash: string;
  readonly hash: string;
}

/** The operation of the entry that records a torn line, see `file-tail.ts`. */
export const recoverOperation = "audit.recover";
