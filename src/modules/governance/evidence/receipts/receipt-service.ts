import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import { requireEnvironment, type TenantId } from "../../../../platform/access/index.ts";
import { digestOfStatement } from "../../../../platform/crypto/index.ts";
import { notFound, type Sql } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { Pack } from "../domain/pack.ts";
import { contradictionOf, type Receipt, receiptsMax, receiptTtlDefaultS } from "../domain/receipt.ts";
import type { Run } from "../domain/run.ts";
import { receiptStatement } from "../domain/statement.ts";
import { appliesTo, isSameArtifact, type ReceiptType, type Subject } from "../domain/subject.ts";
import type { Candidates } from "../gates/gate-service.ts";
import { requireIdentifier } from "../identifiers.ts";
import type { EvidenceMetrics } from "../metrics.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import { packStore } from "../packs/pack-store.ts";
import type { RunService } from "../runs/run-service.ts";
import type { Signer } from "../signing/signer.ts";
import { receiptStore } from "./receipt-store.ts";

export interface NewReceipt extends Pick<Receipt, "type" | "result" | "runId" | "cases" | "tool" | "details"> {
  /** Empty for a receipt of a run. */
  readonly subjects: readonly Subject[];
  /** The pack's if it is empty. */
  readonly observedEnvironmentId: string;
  /** The promotion that the pack is attached to if it is empty. */
  readonly candidateId: string;
  readonly token: string;
  /** 0 for the default. */
  readonly ttlS: number;
  /** The conformance report of a runtime receipt; empty for others. */
  readonly reportId: string;
}

/** A conformance report's finding about an environment. */
export interface RuntimeFinding extends Pick<NewReceipt, "result" | "cases" | "tool"> {
  readonly observedAt: Date;
  /** Whether no later run of the suite in the environment has another report. */
  readonly isNewest: boolean;
}

/** Finds a conformance report of an environment. */
export type FindRuntimeFinding = (
  sql: Sql,
  tenantId: TenantId,
  environmentId: string,
  reportId: string,
) => Promise<RuntimeFinding | undefined>;

/** The producer of receipts about the service's own observations. */
const serviceProducer = "service";

interface Dependencies {
  readonly changes: PackChanges;
  readonly runs: RunService;
  readonly signer: Signer;
  readonly candidates: Candidates;
  readonly metrics: EvidenceMetrics;
  readonly findRuntimeFinding: FindRuntimeFinding;
}

const detailsBytesMax = 65_536;

export type ReceiptService = ReturnType<typeof createReceiptService>;

export function createReceiptService({ changes, runs, signer, candidates, metrics, findRuntimeFinding }: Dependencies) {
  /** The artifacts that a receipt without a run is about. They must be in the pack at these digests. */
  async function requireSubjects(context: Context, pack: Pack, subjects: readonly Subject[]): Promise<void> {
    if (subjects.length === 0) throw invalid("subjects", "required", "must name at least one artifact of the pack");
    const artifacts = await packStore(context.sql).readArtifacts(pack.tenantId, pack.id);
    for (const [at, subject] of subjects.entries()) {
      const field = `subjects[${at}]`;
      const current = artifacts.find((each) => isSameArtifact(subject, each));
      if (current === undefined) {
        throw invalid(field, "unknown", `names ${subject.kind} ${subject.name}, which is not in the pack`);
      }
      if (current.sha256 !== subject.sha256 || current.version !== subject.version) {
        const now = `version ${current.version} with the SHA-256 ${current.sha256}`;
        throw invalid(field, "digest", `must be the artifact as it is in the pack: ${now}`);
      }
      if (subjects.findIndex((each) => isSameArtifact(each, subject)) !== at) {
        throw invalid(field, "unique", `names ${subject.kind} ${subject.name} a second time`);
      }
    }
  }

  /** The run of a receipt, locked; undefined for a receipt without a run. */
  async function lockRun(context: Context, pack: Pack, input: NewReceipt): Promise<Run | undefined> {
    if (input.runId === "") return undefined;
    const run = await runs.lockForReport(context, pack.environmentId, input.runId, input.token);
    if (run.packId !== pack.id) throw notFound("evidence run");
    if (run.type !== input.type) throw invalid("type", "run", `must be the type of the run: ${run.type}`);
    if (input.subjects.length > 0) {
      throw invalid("subjects", "run", "must be left out: the run has pinned what it checks");
    }
    return run;
  }

  /** Reads the report of a runtime receipt. A receipt cannot state anything else. */
  async function readReport(context: Context, environmentId: string, input: NewReceipt): Promise<RuntimeFinding> {
    if (input.reportId === "") throw invalid("report_id", "required", "must be the id of a conformance report");
    const found = await findRuntimeFinding(context.sql, context.tenantId, environmentId, input.reportId);
    if (found === undefined) throw notFound("conformance report");
    if (!found.isNewest)
      throw invalid("report_id", "newest", "must be the newest report of its suite in the environment");
    if (found.result !== input.result) throw invalid("result", "report", `must be ${found.result}, as in the report`);
    if (input.cases.length > 0) throw invalid("cases", "report", "must be left out: the report has the cases");
    return found;
  }

  /** The promotion that a receipt is about: the named one, else that of the run, else that of the pack. */
  async function candidateOf(context: Context, pack: Pack, run: Run | undefined, named: string): Promise<string> {
    if (named === "") return run?.candidateId ?? pack.attachment?.candidateId ?? "";
    if ((await candidates.find(context.sql, context.tenantId, named)) === undefined) throw notFound("promotion");
    return named;
  }

  async function hasRoom(sql: Sql, tenantId: TenantId, packId: string): Promise<boolean> {
    return (await receiptStore(sql).count(tenantId, packId)) < receiptsMax;
  }

  async function add(
    context: Context,
    environmentId: string,
    packId: string,
    input: NewReceipt,
    { producer, observedAt }: { readonly producer: string; readonly observedAt?: Date },
  ): Promise<Receipt> {
    checkInput(input);
    const { sql, tenantId } = context;
    const observed = await requireEnvironment(context, input.observedEnvironmentId || environmentId);
    const locked = await changes.lock(context, environmentId, packId, "add_receipt");
    const { pack, now } = locked;
    if (!(await hasRoom(sql, tenantId, packId))) {
      throw fail("FAILED_PRECONDITION", { public: `A pack can have at most ${receiptsMax} receipts.` });
    }
    const run = await lockRun(context, pack, input);
    if (run === undefined) await requireSubjects(context, pack, input.subjects);
    const subjects = run?.subjects ?? input.subjects;
    const { type, result, runId, cases, tool, details } = input;
    requireApplicable(type, subjects);
    const issuedAt = observedAt ?? now;
    const facts = {
      ...{ tenantId, id: ulid(context.nowMs), packId, revision: pack.revision + 1, type, result, producer },
      environmentId: observed.id,
      candidateId: await candidateOf(context, pack, run, input.candidateId),
      ...{ runId, subjects, cases, tool, issuedAt },
      expiresAt: new Date(issuedAt.getTime() + (input.ttlS || receiptTtlDefaultS) * 1000),
    };
    const detailsSha256 = details === null ? "" : digestOfStatement(details);
    const signed = await signer.sign(sql, receiptStatement({ ...facts, detailsSha256 }), context.nowMs);
    const receipt: Receipt = { ...facts, details, ...signed };
    await receiptStore(sql).insert(receipt);
    if (run !== undefined) await runs.endWith(context, run, receipt.id, result === "passed", now);
    const changed = await changes.commit(context, locked, { ...pack, revision: receipt.revision });
    const { id, candidateId, digest } = receipt;
    const data = { receipt_id: id, type, result, producer, run_id: runId, candidate_id: candidateId, digest };
    await changes.record(context, "evidence.receipt.added", changed, data);
    context.afterCommit(() => metrics.receiptAdded(type, result));
    return receipt;
  }

  return {
    /** Whether a pack can have another receipt. */
    hasRoom,

    /** Adds the receipt of a caller. Only the service itself reports canaries and the results of conformance runs. */
    async addReceipt(context: Context, environmentId: string, packId: string, input: NewReceipt): Promise<Receipt> {
      if (input.type === "runtime") {
        const observed = await requireEnvironment(context, input.observedEnvironmentId || environmentId);
        const { observedAt, isNewest: _, ...found } = await readReport(context, observed.id, input);
        const origin = { producer: serviceProducer, observedAt };
        return add(context, environmentId, packId, { ...input, ...found }, origin);
      }
      if (input.reportId !== "") throw invalid("report_id", "type", "must be left out: only runtime receipts have one");
      return add(context, environmentId, packId, input, { producer: context.principal.subject });
    },

    /** Adds a receipt about the service's own observation, in the caller's transaction. */
    async addObservation(context: Context, environmentId: string, packId: string, input: NewReceipt): Promise<Receipt> {
      return add(context, environmentId, packId, input, { producer: serviceProducer });
    },
  };
}

/** Throws INVALID_ARGUMENT if a receipt contradicts itself, or would export data that it must not. */
function checkInput(input: NewReceipt): void {
  const { cases, tool, details } = input;
  const contradiction = contradictionOf(input);
  if (contradiction !== undefined) throw invalid("result", "contradiction", contradiction);
  const ids = new Set<string>();
  for (const [at, { id }] of cases.entries()) {
    requireIdentifier(`cases[${at}].id`, id);
    if (ids.has(id)) throw invalid(`cases[${at}].id`, "unique", `is a second result of the case ${id}`);
    ids.add(id);
  }
  requireIdentifier("tool.name", tool.name);
  requireIdentifier("tool.version", tool.version);
  if (details !== null && Buffer.byteLength(JSON.stringify(details)) > detailsBytesMax) {
    throw invalid("details", "size", `must have at most ${detailsBytesMax} bytes as JSON`);
  }
}

function requireApplicable(type: ReceiptType, subjects: readonly Subject[]): void {
  const at = subjects.findIndex(({ kind }) => !appliesTo(type, kind));
  if (at < 0) return;
  throw invalid(`subjects[${at}].kind`, "type", `is ${subjects[at]!.kind}, which a ${type} receipt cannot be about`);
}
