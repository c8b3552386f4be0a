import type { Candidate } from "@client/gen/promotion";
import { createRolloutEvidenceService, type EvidenceFinding } from "@client/gen/rollout-evidence";
import { useQuery } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Card } from "../../ui/card";
import { formatTime, words } from "../../ui/format";
import { Name } from "../../ui/name";
import { Ready } from "../../ui/page";
import { Notice, Status } from "../../ui/text";

const packs = createRolloutEvidenceService(transport);

/** The evidence of a candidate: whether its gate is open, and what decided each requirement. */
export function Evidence({ candidate }: { readonly candidate: Candidate }) {
  const { pack_id, environment_id, artifacts } = candidate;
  const isReadable = pack_id !== "" && can("evidence:read");
  const explanation = useQuery(
    isReadable ? `evidence ${pack_id}` : undefined,
    () => packs.explainPack({ environment_id, pack_id }),
    { live: ["evidence.", "promotion."], everyMs: 15_000 },
  );
  if (pack_id === "") return null;
  if (!isReadable) {
    return (
      <Card title="Evidence">
        <p>
          Pack <Name id={pack_id} kind="evidence_pack" />
        </p>
      </Card>
    );
  }
  const nameOf = ({ subject }: EvidenceFinding) =>
    artifacts.find(({ target_id }) => target_id === subject?.name)?.target_name ?? subject?.name ?? "the pack";
  return (
    <Card
      actions={<Status of={explanation.data?.gate?.state} tone={toneOf(explanation.data?.gate?.state)} />}
      title="Evidence"
    >
      <Ready query={explanation}>
        {({ gate, findings }) => (
          <>
            {gate?.next_step !== "" && <Notice tone="warn">{gate?.next_step}</Notice>}
            <ol class="steps">
              {findings.map((finding) => (
                <li
                  data-tone={finding.verdict === "satisfied" ? "ok" : "bad"}
                  key={`${finding.requirement?.id} ${finding.subject?.kind} ${finding.subject?.name}`}
                >
                  <span>
                    <strong>{words(finding.requirement?.receipt_type ?? "")}</strong> of {nameOf(finding)}{" "}
                    <Status of={finding.verdict} tone={finding.verdict === "satisfied" ? "ok" : "bad"} />
                  </span>
                  <span class="when">{issuedText(finding)}</span>
                  <span class="detail">{finding.explanation}</span>
                </li>
              ))}
            </ol>
            <p class="soft">
              {gate?.valid_until ? `Open until ${formatTime(gate.valid_until)}. ` : ""}Pack{" "}
              <Name id={pack_id} kind="evidence_pack" />
            </p>
          </>
        )}
      </Ready>
    </Card>
  );
}

function toneOf(state: string | undefined) {
  return state === "open" ? "ok" : "bad";
}

/** When the receipt was issued that decided. */
function issuedText({ receipts }: EvidenceFinding): string {
  const decisive = receipts.find(({ decisive: decides }) => decides);
  return decisive === undefined ? "no receipt" : formatTime(decisive.issued_at);
}
