import {
  type Candidate,
  type CandidateCanary,
  type CandidateScore,
  createPromotionService,
} from "@client/gen/promotion";
import { useList, useQuery } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Card } from "../../ui/card";
import { formatCount, formatDecimal, formatPercent, formatTime, words } from "../../ui/format";
import { Name } from "../../ui/name";
import { currentTab, Page, Ready, Tabs } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";
import { CandidateActions, mayApprove } from "./candidate-actions";
import { stateOf, verdictOf } from "./candidate-state";
import { Evidence } from "./evidence";
import { WhatIf } from "./what-if";

const promotions = createPromotionService(transport);

const tabs = { overview: "Overview", simulation: "What if" };

/** One candidate: what it changes, what was checked, who approved it, and what happened. */
export function CandidatePage({ id }: { readonly id: string }) {
  const candidate = useQuery(`candidate ${id}`, () => promotions.getCandidate({ candidate_id: id }), {
    everyMs: 5_000,
    live: ["promotion."],
  });
  return (
    <Page
      actions={candidate.data && <CandidateActions candidate={candidate.data} refresh={candidate.refresh} />}
      badge={<Status of={candidate.data && stateOf(candidate.data)} />}
      crumbs={[{ title: "Promotions", path: "promotions" }]}
      question={candidate.data?.description || "What does it change, and is it safe?"}
      title={candidate.data?.name ?? "Candidate"}
    >
      <Ready query={candidate}>
        {(data) => (
          <>
            <Tabs label="Candidate" tabs={tabs} />
            {currentTab(tabs) === "simulation" ? <WhatIf id={id} /> : <Overview candidate={data} />}
          </>
        )}
      </Ready>
    </Page>
  );
}

function Overview({ candidate }: { readonly candidate: Candidate }) {
  return (
    <>
      <Problems candidate={candidate} />
      <Artifacts candidate={candidate} />
      <div class="columns">
        <div class="stack">
          <Checks candidate={candidate} />
          <Evidence candidate={candidate} />
        </div>
        <Timeline id={candidate.id} state={candidate.state} />
      </div>
    </>
  );
}

function Problems({ candidate }: { readonly candidate: Candidate }) {
  const { preflight, approval } = candidate;
  return (
    <>
      {candidate.possible_calls.includes("approve") && !mayApprove(candidate) && (
        <Notice tone="info">
          {approval === undefined
            ? "It waits for an approval by a second person. "
            : `It has ${approval.approvers.length} of ${approval.approvals_needed} approvals. `}
          Who may approve: a member with the role Admin or Promotion approver, other than the one who created it. They
          sign in, open this page and choose <strong>Approve</strong>. A key cannot approve.{" "}
          {can("member:read") && (
            <a class="link" href={href("members")}>
              Open the members
            </a>
          )}
        </Notice>
      )}
      <NextStep candidate={candidate} />
      {preflight?.blocking.map(({ code, message, target_id }) => (
        <Notice key={`${code} ${target_id}`} tone="bad">
          <strong>{words(code)}. </strong>
          {message}
        </Notice>
      ))}
      {approval !== undefined && approval.void_reasons.length > 0 && (
        <Notice tone="warn">The approval is void: {approval.void_reasons.map(words).join(", ")}.</Notice>
      )}
    </>
  );
}

/** What to do where the state does not say it. */
function NextStep({ candidate }: { readonly candidate: Candidate }) {
  const { canary, guardrail_report: guardrails } = candidate;
  const state = stateOf(candidate);
  if (state === "guardrails_inconclusive") {
    const lacksKeys = guardrails!.scores.some(({ verdict, keys }) => verdict === "inconclusive" && keys === 0);
    return (
      <Notice tone="warn">
        {"The guardrails have too little to go by. Route items until more of them have an outcome, and score again. "}
        {lacksKeys &&
          "Only items with a key count. Without traffic, abort the candidate and create it again with a reason under “Why it needs no traffic”."}
      </Notice>
    );
  }
  if (!canary?.running || canary.steps.length > 0) return null;
  return (
    <Notice tone={canary.verdict === "passed" ? "ok" : "info"}>
      {canary.verdict === "passed"
        ? "The canary has passed. Stop canary ends it, and the candidate can then be approved."
        : "The canary is compared with the baseline. Once it has passed, Stop canary leads on to the approval."}
    </Notice>
  );
}

function Artifacts({ candidate: { artifacts } }: { readonly candidate: Candidate }) {
  return (
    <Table
      columns={[
        { title: "Target", value: ({ target_name }) => target_name },
        { title: "Kind", width: "120px", value: ({ kind }) => words(kind) },
        {
          title: "From",
          width: "100px",
          value: ({ base_version }) => base_version,
          render: versionText("base_version"),
        },
        { title: "To", width: "100px", value: ({ version }) => version, render: versionText("version") },
        {
          title: "Digest",
          width: "160px",
          value: ({ sha256 }) => sha256,
          render: ({ sha256 }) => <Id id={sha256} />,
        },
      ]}
      keyOf={({ kind, target_id }) => `${kind} ${target_id}`}
      label="Versions"
      rows={artifacts}
    />
  );
}

function versionText(name: "base_version" | "version") {
  return (artifact: Candidate["artifacts"][number]) => (artifact[name] === 0 ? "none" : `version ${artifact[name]}`);
}

function Checks({ candidate }: { readonly candidate: Candidate }) {
  const { preflight, guardrail_report: guardrails, canary, approval, promotion } = candidate;
  const scores = [
    ...(guardrails?.scores ?? []).map((score) => ({ score, check: "Guardrail" })),
    ...(canary?.scores ?? []).map((score) => ({ score, check: "Canary" })),
  ];
  return (
    <Card title="Checks">
      <div class="stack">
        <Facts
          of={{
            Preflight: preflight && <Status of={preflight.passed ? "passed" : "blocked"} />,
            Guardrails: guardrails && <Status of={verdictOf(guardrails)} />,
            Canary: canary && `${canary.percent} % of the keys${stepText(canary)}, ${words(canary.verdict)}`,
            Waiver: candidate.waiver_reason,
            Evidence: candidate.pack_id === "" ? "no pack" : undefined,
            "Approved by": approval?.approvers.map(({ approved_by, approved_at }) => (
              <Who id={approved_by} key={approved_by} time={approved_at} />
            )),
            "Promoted by": promotion && <Who id={promotion.promoted_by} time={promotion.promoted_at} />,
            "Rolled back by": promotion?.rolled_back_at && (
              <Who id={promotion.rolled_back_by} time={promotion.rolled_back_at} />
            ),
            "Created by": <Name id={candidate.created_by} />,
            Created: <Ago time={candidate.created_at} />,
            Id: <Id id={candidate.id} />,
          }}
        />
        {preflight?.impacts.map(({ code, message, target_id }) => (
          <p class="soft" key={`${code} ${target_id}`}>
            {message}
          </p>
        ))}
        {scores.length > 0 && (
          <ul>
            {scores.map(({ score, check }) => (
              <li key={`${check} ${score.kind} ${score.target_id} ${score.metric} ${score.baseline_keys}`}>
                {check}: {words(score.metric).toLowerCase()} of <Name id={score.target_id} />: {scoreText(score)}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}

function stepText({ step, steps }: CandidateCanary): string {
  return step === 0 ? "" : `, step ${step} of ${steps.length}`;
}

const shares = new Set(["success", "simulated_changes", "simulated_refusals"]);

function scoreText({ metric, verdict, value, limit, baseline, keys, baseline_keys, reason }: CandidateScore): string {
  const format = (of: number) => (shares.has(metric) ? formatPercent(of) : formatDecimal(of));
  const unit = metric.startsWith("simulated_") ? "item" : "key";
  const over = (count: number) => (count === 0 ? "" : ` over ${formatCount(count)} ${unit}${count === 1 ? "" : "s"}`);
  const sides = [
    value !== undefined && `${format(value)}${over(keys)}`,
    baseline !== undefined && `baseline ${format(baseline)}${over(baseline_keys)}`,
    limit !== undefined && `limit ${format(limit)}`,
  ];
  const measured = value === undefined ? "" : `: ${sides.filter(Boolean).join(", ")}`;
  return `${words(verdict)}${measured}. ${reason}`;
}

/** Who did something, and when. */
function Who({ id, time }: { readonly id: string; readonly time: string | undefined }) {
  return (
    <p>
      <Name id={id} />, {formatTime(time)}
    </p>
  );
}

function Timeline({ id, state }: { readonly id: string; readonly state: string }) {
  const history = useList(`candidate history ${id} ${state}`, (page) =>
    promotions.listCandidateHistory({ ...page, candidate_id: id }),
  );
  return (
    <Card title="Timeline">
      <ol class="steps">
        {history.rows.map(({ at, call, summary, actor }, index) => (
          <li data-tone="ok" key={`${at} ${index}`}>
            <span>
              <strong>{words(call)}</strong> {summary}{" "}
              <span class="soft">
                <Name id={actor} />
              </span>
            </span>
            <span class="when">{formatTime(at)}</span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
