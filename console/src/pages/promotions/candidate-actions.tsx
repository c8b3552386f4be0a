import { type Candidate, createPromotionService } from "@client/gen/promotion";
import { useState } from "preact/hooks";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { type Field, FormDialog } from "../../ui/form";
import { announce } from "../../ui/toast";

const promotions = createPromotionService(transport);

const canaryFields: readonly Field[] = [
  { name: "percent", label: "Share of the keys, in percent", kind: "number", required: true },
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

/** The calls that are possible in the state of the candidate. */
export function CandidateActions({ candidate, refresh }: Props) {
  const [dialog, open] = useState<"canary" | "approve">();
  const id = { candidate_id: candidate.id };
  const offers = (call: string, scope = "promotion:write") => candidate.possible_calls.includes(call) && can(scope);
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
        <Button onClick={() => act(promotions.preflightCandidate(id), "The artifacts were checked.")}>Preflight</Button>
      )}
      {offers("evaluate_guardrails") && (
        <Button onClick={() => act(promotions.evaluateGuardrails(id), "The guardrails were scored.")}>
          Score guardrails
        </Button>
      )}
      {offers("start_canary") && <Button onClick={() => open("canary")}>Start canary</Button>}
      {offers("stop_canary") && (
        <Button onClick={() => act(promotions.stopCanary(id), "The canary was stopped.")}>Stop canary</Button>
      )}
      {offers("approve", "promotion:approve") && <Button onClick={() => open("approve")}>Approve</Button>}
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
          done="The candidate is approved."
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
