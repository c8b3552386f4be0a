/**
 * Audit: who did what, in a record that shows when it was altered.
 *
 * entry    one line of JSON, numbered without gaps
 * chain    each entry's hash covers the one before, so an edit, a gap or a swap anywhere breaks every later link
 * head     number and hash of the last entry; kept elsewhere, it also proves that nothing was cut off the end
 * redact   take out of an entry what no record may hold (secrets) and, when asked, what names a person
 */
export { type Audit, type AuditSettings, openAudit } from "./audit.ts";
export type { AuditEntry, AuditOutcome } from "./entry.ts";
export { createRedactor, type Redactor, type RedactorSettings } from "./redact.ts";
export { type AuditVerdict, verifyAudit } from "./verify.ts";
