import { createExplainService } from "@client/gen/explain";
import {
  createRoutingService,
  type Decision,
  type Replay,
  type RouteRequest,
  type TraceStep,
} from "@client/gen/routing";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { FormDialog } from "../../ui/form";
import { formatTime, words } from "../../ui/format";
import { Name } from "../../ui/name";
import { Page, Ready } from "../../ui/page";
import { Chips, Facts, Id, Notice, Status, type Tone } from "../../ui/text";
import { toastError } from "../../ui/toast";
import { itemText } from "../shared/item-text";
import { Evidence } from "./decision-evidence";

const routing = createRoutingService(transport);
const explain = createExplainService(transport);

/** One decision: its trace, a replay from the stored inputs, and what would be decided now. */
export function DecisionPage({ decisionId }: { readonly decisionId: string }) {
  const decision = useQuery(`decision ${decisionId}`, () => routing.getDecision({ decision_id: decisionId }));
  const explanation = useQuery(can("explanation:read") ? `decision explained ${decisionId}` : undefined, () =>
    explain.explain({ id: decisionId }),
  );
  const [replay, setReplay] = useState<Replay>();
  const [isTrying, tryOut] = useState(false);
  const [trial, setTrial] = useState<Decision>();
  const run = () => routing.replayDecision({ decision_id: decisionId }).then(setReplay, toastError);
  return (
    <Page
      actions={
        <>
          {can("decision:read") && <Button onClick={run}>Replay</Button>}
          {can("route:write") && decision.data && <Button onClick={() => tryOut(true)}>What if…</Button>}
        </>
      }
      badge={<Status of={decision.data?.outcome} />}
      crumbs={[{ title: "Decisions", path: "decisions" }]}
      question="Why did this recipient get this item?"
      title={decision.data ? itemText(decision.data) : "Decision"}
    >
      {replay && (
        <Notice tone={replay.identical ? "ok" : "warn"}>
          {replay.identical
            ? "The replay from the stored inputs gives the identical decision."
            : `The replay differs in ${replay.differences.join(", ")}.`}
        </Notice>
      )}
      <Ready query={decision}>
        {(data) => (
          <>
            {explanation.data && <Evidence explanation={explanation.data} />}
            <div class="columns wide-first">
              <div class="stack">
                <Card title="How it was decided">
                  <Trace decision={data} />
                </Card>
                {trial && (
                  <Card title="What would be decided now">
                    <Trace decision={trial} />
                  </Card>
                )}
              </div>
              <Summary decision={data} />
            </div>
          </>
        )}
      </Ready>
      {isTrying && (
        <WhatIf
          decision={decision.data!}
          onClose={() => tryOut(false)}
          onDecided={(decided) => {
            setTrial(decided);
            tryOut(false);
          }}
        />
      )}
    </Page>
  );
}

/** The steps of a decision, from the first rule to the outcome. */
function Trace({ decision }: { readonly decision: Decision }) {
  const end: TraceStep = {
    step: "outcome",
    id: decision.recipient_id,
    result: decision.outcome,
    detail: decision.message || words(decision.reason),
  };
  return (
    <ol class="steps">
      {[...decision.trace, end].map(({ step, id, result, detail }, index) => (
        <li data-tone={toneOfStep(step, result)} key={`${index} ${step}`}>
          <span>
            <strong>{words(step)}</strong> <span class="soft">{words(result)}</span>
          </span>
          <span class="when">{id !== "" && <Name id={id} kind={subjectKinds[step]} />}</span>
          {detail !== "" && <span class="detail">{detail}</span>}
        </li>
      ))}
    </ol>
  );
}

/** What the steps of a trace are about. */
const subjectKinds: Readonly<Record<string, string>> = {
  rule: "rule",
  strategy: "recipient",
  fallback: "recipient",
  outcome: "recipient",
  redirect: "pool",
  requirement: "recipient",
  pool: "rule",
  canary: "promotion",
};

function toneOfStep(step: string, result: string): Tone {
  if (/reject|fail|error|none|exclud/.test(result)) return "bad";
  if (/skip|no_match|not_|held|wait|queued/.test(result)) return "muted";
  if (step === "outcome" || step === "strategy") return "ok";
  return "info";
}

function Summary({ decision }: { readonly decision: Decision }) {
  const { pool_id, recipient_id, queue_item_id, matched_rule_ids, experiments } = decision;
  return (
    <Card title="Decision">
      <Facts
        of={{
          Pool: <Name id={pool_id} kind="pool" />,
          Recipient: recipient_id && <Name id={recipient_id} kind="recipient" />,
          Item: queue_item_id && <Name id={queue_item_id} kind="queue_item" />,
          Type: decision.type,
          Key: decision.key,
          Reason: words(decision.reason),
          "Matched rules": matched_rule_ids.length > 0 && (
            <span class="chips">
              {matched_rule_ids.map((id) => (
                <Name id={id} key={id} kind="rule" />
              ))}
            </span>
          ),
          Experiments: <Chips of={Object.entries(experiments).map(([key, variant]) => `${key}: ${variant}`)} />,
          "Snapshot digest": <Id id={decision.snapshot_digest} />,
          Seed: String(decision.seed),
          Decided: formatTime(decision.decided_at),
          Id: <Id id={decision.decision_id} />,
        }}
      />
    </Card>
  );
}

interface WhatIfProps {
  readonly decision: Decision;
  readonly onDecided: (decision: Decision) => void;
  readonly onClose: () => void;
}

/** Decides about a changed item without storing anything. */
function WhatIf({ decision, onDecided, onClose }: WhatIfProps) {
  return (
    <FormDialog
      fields={[
        { name: "type", label: "Type", required: true, row: "item" },
        { name: "key", label: "Key", row: "item" },
        { name: "priority", label: "Priority", kind: "number", row: "item" },
        { name: "attributes", label: "Attributes", kind: "json", placeholder: `{ "language": "de" }` },
        { name: "requirements", label: "Requirements", kind: "json", placeholder: `{ "skills": { "german": 3 } }` },
      ]}
      initial={{ type: decision.type, key: decision.key, attributes: {} }}
      onClose={onClose}
      onSubmit={async (values) => {
        const request = { ...values, pool_id: decision.pool_id, dry_run: true } as unknown as RouteRequest;
        onDecided(await routing.route(request));
      }}
      submit="Decide without storing"
      title="What would be decided for this item?"
    />
  );
}
