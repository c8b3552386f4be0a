import { type Candidate, createPromotionService } from "@client/gen/promotion";
import { useState } from "preact/hooks";
import { can, session } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { type Field, FormDialog } from "../../ui/form";
import { announce } from "../../ui/toast";

const promotions = createPromotionService(transport);

const canaryFields: readonly Field[] = [
  {
    name: "percent",
    label: "Share of the keys, in percent",
    kind: "number",
    required: true,
    appliesTo: ({ steps = "" }) => steps === "" || steps === "[]",
  },
  {
    name: "steps",
    label: "Steps that follow by themselves",
    kind: "rows",
    fields: [
      { name: "percent", label: "Percent", kind: "number", required: true },
      { name: "min_duration_s", label: "At least", kind: "duration", required: true },
    ],
  },
  { name: "keys_min", label: "Keys that it needs", kind: "number", required: true, row: "proof" },
  {
    name: "margin",
    label: "Largest loss of success",
    kind: "number",
    required: true,
    row: "proof",
    hint: "0.05 excludes a loss of 5 %. A canary that is started again keeps its terms.",
  },
];

interface Props {
  readonly candidate: Candidate;
  readonly refresh: () => void;
}

/** Whether the caller is a person other than the one who created the candidate, and may approve. */
export function mayApprove({ created_by }: Candidate): boolean {
  const { kind, subject } = session.value!;
  return can("promotion:approve") && kind === "user" && subject !== created_by;
}

/** The calls that lead on to a promotion, in their order. The last possible one is what comes next. */
const steps = ["preflight", "evaluate_guardrails", "start_canary", "stop_canary", "approve", "promote"];

/** The calls that are possible in the state of the candidate. */
export function CandidateActions({ candidate, refresh }: Props) {
  const [dialog, open] = useState<"canary" | "approve">();
  const id = { candidate_id: candidate.id };
  const offers = (call: string) => candidate.possible_calls.includes(call) && can("promotion:write");
  const next = steps.findLast((step) => candidate.possible_calls.includes(step));
  const emphasis = (step: string) => (step === next ? ({ tone: "primary" } as const) : {});
  const act = (call: Promise<unknown>, done: string) => announce(call, done, refresh);
  const promote = () =>
    confirm({
      title: `Promote ${candidate.name}?`,
      consequence: "All versions of the candidate become active at once. A rollback activates the previous ones again.",
      confirm: "Promote",
      done: "The versions are active.",
      act: () => promotions.promoteCandidate(id).then(refresh),
    });
  const rollBack = () =>
    confirm({
      title: `Roll back ${candidate.name}?`,
      consequence: "All targets get the versions that they had before the promotion.",
      confirm: "Roll back",
      done: "The previous versions are active.",
      act: () => promotions.rollBackCandidate({ ...id, reason: "rolled back in the console" }).then(refresh),
    });
  const abort = () =>
    confirm({
      title: `Abort ${candidate.name}?`,
      consequence: "Its canary stops, and it can never be promoted. Nothing else changes.",
      confirm: "Abort candidate",
      done: "The candidate was aborted.",
      act: () => promotions.abortCandidate({ ...id, reason: "aborted in the console" }).then(refresh),
    });
  return (
    <>
      {offers("abort") && (
        <Button onClick={abort} tone="danger-text">
          Abort
        </Button>
      )}
      {offers("preflight") && (
        <Button
          onClick={() => act(promotions.preflightCandidate(id), "The artifacts were checked.")}
          {...emphasis("preflight")}
        >
          Preflight
        </Button>
      )}
      {offers("evaluate_guardrails") && (
        <Button
          onClick={() => act(promotions.evaluateGuardrails(id), "The guardrails were scored.")}
          {...emphasis("evaluate_guardrails")}
        >
          Score guardrails
        </Button>
      )}
      {offers("start_canary") && (
        <Button onClick={() => open("canary")} {...emphasis("start_canary")}>
          Start canary
        </Button>
      )}
      {offers("stop_canary") && (
        <Button onClick={() => act(promotions.stopCanary(id), "The canary was stopped.")} {...emphasis("stop_canary")}>
          Stop canary
        </Button>
      )}
      {candidate.possible_calls.includes("approve") && mayApprove(candidate) && (
        <Button onClick={() => open("approve")} tone="primary">
          Approve
        </Button>
      )}
      {offers("promote") && (
        <Button onClick={promote} tone="primary">
          Promote
        </Button>
      )}
      {offers("rollback") && <Button onClick={rollBack}>Roll back</Button>}
      {dialog === "canary" && (
        <FormDialog
          done="The canary is running."
          fields={canaryFields}
          initial={candidate.canary ?? { percent: 5, keys_min: 100, margin: 0.05 }}
          onClose={() => open(undefined)}
          onSubmit={async (terms) => {
            await promotions.startCanary({ ...id, ...terms });
            refresh();
          }}
          submit="Start canary"
          title="Start the canary"
        />
      )}
      {dialog === "approve" && (
        <FormDialog
          done="Your approval is recorded."
          fields={[{ name: "note", label: "What did you check?", kind: "long", required: true }]}
          onClose={() => open(undefined)}
          onSubmit={async ({ note }) => {
            await promotions.approveCandidate({ ...id, note: String(note) });
            refresh();
          }}
          submit="Approve"
          title="Approve these versions"
        />
      )}
    </>
  );
}
