import type { Context } from "../../../../chain/call.ts";
import { covers } from "../../../../platform/access/index.ts";
import { type ExplainedStep, type Explainer, linkTo } from "../../../explainer.ts";
import {
  createRecipientNames,
  describePause,
  type PoolSnapshot,
  type Pools,
  type RecipientNames,
} from "../../pools/index.ts";
import { compilePool } from "../domain/compilation/compiled-pool.ts";
import { describeDecision, describeStep } from "../domain/decision-text.ts";
import { type Evidence, matchedRuleIds } from "../domain/evidence.ts";
import { RecipientJudge } from "../domain/recipient-verdict.ts";
import type { DecisionService } from "./decision-service.ts";
import { evidenceOf, type FoundDecision, itemOf } from "./decision-store.ts";
import { snapshotStore } from "./snapshot-store.ts";

interface Dependencies {
  readonly decisions: Pick<DecisionService, "findReadable">;
  readonly pools: Pick<Pools, "snapshotCodec" | "findPauses">;
}

/** How many recipients are explained. One that the question is about comes first. */
const recipientsMax = 20;

/** Explains decisions: their trace, and why each recipient was or was not chosen. */
export function createDecisionExplainer({ decisions, pools }: Dependencies): Explainer {
  return {
    kind: "decision",
    scope: "decision:read",
    async explain(context, { id, about }) {
      const stored = await decisions.findReadable(context, id);
      if (stored === undefined) return undefined;
      const evidence = evidenceOf(stored);
      const snapshot = await snapshotOf(context, pools, stored);
      const nameOf = createRecipientNames(context, snapshot);
      const at = new Date(evidence.nowMs);
      const judge = snapshot && judgeOf(snapshot, stored, evidence, nameOf);
      const judged = judge === undefined ? [] : judgeRecipients(judge, snapshot!, { about, nameOf });
      const rules = covers(context.principal.scopes, "rule:read") ? (snapshot?.rules ?? []) : [];
      const verdicts = await withPauses(context, pools, judged, at);
      const asked =
        about === ""
          ? ""
          : ` ${verdicts.find(({ isAsked }) => isAsked)?.step.message ?? unknownRecipient(about, snapshot)}`;
      return {
        status: stored.outcome,
        summary: `${describeDecision(stored.outcome, evidence, nameOf(stored.recipientId))}${asked}`,
        steps: [
          ...evidence.trace.map((step) => {
            const rule = rules.find(({ id: ruleId }) => ruleId === step.id);
            return {
              ...{ at, code: step.step, message: describeStep(step, rule), result: step.result },
              ...(step.id !== undefined && { subject: step.id }),
              ...(rule !== undefined && { values: judge!.valuesOf(rule.id) }),
            };
          }),
          ...verdicts.map(({ step }) => ({ at, ...step })),
        ],
        waits: [],
        remedies: [],
        links: linksOf(stored, evidence),
      };
    },
  };
}

async function snapshotOf(
  { sql, tenantId }: Context,
  { snapshotCodec }: Dependencies["pools"],
  { snapshotDigest }: FoundDecision,
): Promise<PoolSnapshot | undefined> {
  const body = await snapshotStore(sql).find(tenantId, snapshotDigest);
  return body && snapshotCodec.decode(body);
}

interface RecipientStep {
  readonly isAsked: boolean;
  readonly step: ExplainedStep & { readonly subject: string };
}

function judgeOf(snapshot: PoolSnapshot, stored: FoundDecision, evidence: Evidence, nameOf: RecipientNames) {
  const at = { nowMs: evidence.nowMs, seed: stored.seed, waitedS: 0 };
  return new RecipientJudge(compilePool(snapshot), itemOf(stored), at, evidence, nameOf);
}

/** Judges the recipient that the question is about, and others up to the limit. */
function judgeRecipients(
  judge: RecipientJudge,
  snapshot: PoolSnapshot,
  { about, nameOf }: { readonly about: string; readonly nameOf: RecipientNames },
): readonly RecipientStep[] {
  const isAsked = (index: number) => {
    const { id } = snapshot.recipients[index]!;
    return about !== "" && (id === about || nameOf(id) === about);
  };
  const all = snapshot.recipients.map((_, index) => index);
  const asked = about === "" ? [] : all.filter(isAsked);
  const shown = [...new Set([...asked, ...all.slice(0, recipientsMax)])].slice(0, recipientsMax);
  return shown.map((index) => {
    const { code, message, values } = judge.judge(index);
    return {
      isAsked: isAsked(index),
      step: { code: `recipient_${code}`, subject: snapshot.recipients[index]!.id, message, values },
    };
  });
}

/** Adds why a recipient that was not active is paused, if that is known and it has been since before the decision. */
async function withPauses(
  { sql, tenantId, principal }: Context,
  pools: Dependencies["pools"],
  verdicts: readonly RecipientStep[],
  decidedAt: Date,
): Promise<readonly RecipientStep[]> {
  if (!covers(principal.scopes, "recipient:read")) {
    return verdicts.map(({ step: { values: _, ...step }, ...verdict }) => ({ ...verdict, step }));
  }
  const inactive = verdicts.filter(({ step }) => step.code === "recipient_not_active");
  const pauses = await pools.findPauses(
    sql,
    tenantId,
    inactive.map(({ step }) => step.subject),
  );
  return verdicts.map((verdict) => {
    const { step } = verdict;
    const pause = step.code === "recipient_not_active" ? pauses.get(step.subject) : undefined;
    if (pause === undefined || pause.reason === "" || pause.since > decidedAt) return verdict;
    return { ...verdict, step: { ...step, message: `${step.message} ${describePause(pause)}` } };
  });
}

function unknownRecipient(about: string, snapshot: PoolSnapshot | undefined): string {
  return snapshot === undefined
    ? "The snapshot of the pool has expired, so that nothing is known about its recipients."
    : `${about} was not a recipient of the pool when the decision was made.`;
}

function linksOf({ id, poolId, recipientId }: FoundDecision, evidence: Evidence) {
  const { existingItemId } = evidence;
  return [
    ...linkTo("decision", id, `/api/decisions/${id}`),
    ...linkTo("pool", poolId, `/api/pools/${poolId}`),
    ...linkTo("recipient", recipientId, `/api/recipients/${recipientId}`),
    ...matchedRuleIds(evidence).flatMap((ruleId) => linkTo("rule", ruleId, `/api/rules/${ruleId}`)),
    ...linkTo("existing_item", existingItemId, `/api/queues/${poolId}/items/${existingItemId}`, true),
  ];
}
