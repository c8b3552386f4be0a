import type { TenantId } from "../../../../platform/access/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import type { ReceiptType, Subject } from "./subject.ts";

/** The result of a check. Blocked: it could not be made. */
export type ReceiptResult = "passed" | "failed" | "blocked";

/** The result of one case of a check. */
export interface CaseResult {
  readonly id: string;
  readonly status: ReceiptResult | "not_applicable";
}

/** The part of a receipt that a gate needs. */
export interface ReceiptHead {
  readonly id: string;
  /** The revision of the pack that the receipt made: the order of receipts. */
  readonly revision: number;
  readonly type: ReceiptType;
  readonly result: ReceiptResult;
  /** Who made the check: `service` for the service's own observations, else the subject of the caller. */
  readonly producer: string;
  /** Where the check was made. */
  readonly environmentId: string;
  /** The promotion that the check was made for; empty if it is about its subjects only. */
  readonly candidateId: string;
  readonly subjects: readonly Subject[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly digest: string;
}

/** A receipt: the signed result of a check. It never changes. */
export interface Receipt extends ReceiptHead {
  readonly tenantId: TenantId;
  readonly packId: string;
  readonly runId: string;
  readonly cases: readonly CaseResult[];
  readonly tool: { readonly name: string; readonly version: string };
  readonly details: JsonObject | null;
  /** The signed statement as canonical JSON. */
  readonly statement: string;
  readonly keyId: string;
  readonly signature: string;
}

/** The largest number of receipts of a pack. */
export const receiptsMax = 500;

/** The seconds after which a receipt expires if the caller does not say. */
export const receiptTtlDefaultS = 7 * 86_400;

/** The cases of a proof: the promises of the service. */
const proofCases = [
  ...["kept", "effect-once", "replayed-answer", "leased-once", "completed-once", "fenced", "capacity", "concurrency"],
  ...["runs-kept", "task-once", "timers", "records-kept", "no-gaps", "events-ordered", "message-once", "action-once"],
  ...["sticky", "apart"],
] as const;

/** A case of a proof. */
export type ProofCase = (typeof proofCases)[number];

/** Why the cases contradict the result of a check; undefined if they do not. */
export function contradictionOf({ type, result, cases }: Pick<Receipt, "type" | "result" | "cases">) {
  if (result !== "passed") return undefined;
  const bad = cases.find(({ status }) => status === "failed" || status === "blocked");
  if (bad !== undefined) return `is passed, but the case ${bad.id} is ${bad.status}`;
  if (type !== "proof") return undefined;
  const passed = new Set(cases.flatMap(({ id, status }) => (status === "passed" ? [id] : [])));
  const missing = proofCases.find((id) => !passed.has(id));
  return missing && `is passed, but the case ${missing} is not: a proof passes with all promises of the service`;
}
