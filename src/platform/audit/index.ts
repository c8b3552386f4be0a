/**
 * Audit: a tamper-evident log of who did what.
 *
 * entry    one line of JSON, numbered without gaps
 * chain    each entry's hash covers the previous one, so that an edit, a gap or a swap breaks every later link
 * head     sequence number and hash of the last entry; stored elsewhere, it also reveals truncation of the log
 * redact   remove secrets from an entry and, if configured, personal data
 */
export { type Audit, type AuditSettings, openAudit } from "./audit.ts";
export type { AuditEntry, AuditOutcome } from "./entry.ts";
export { createRedactor, type Redactor, type RedactorSettings } from "./redact.ts";
export { containsCredential, containsPersonalData } from "./redact-text.ts";
export { type AuditVerification, verifyAudit } from "./verify.ts";
