import { type CreateCandidateRequest, createPromotionService } from "@client/gen/promotion";
import { createRolloutEvidenceService } from "@client/gen/rollout-evidence";
import { useQuery } from "../../core/query";
import { href, navigate, setQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { type Field, FormDialog } from "../../ui/form";
import { filterOf } from "../../ui/page";
import { Notice } from "../../ui/text";
import { environmentFields, initialEnvironment } from "../shared/environment";
import { ArtifactPicker } from "./artifact-picker";

const promotions = createPromotionService(transport);
const packs = createRolloutEvidenceService(transport);

const limits = [
  ["success", "Success of at least", "A share from 0 to 1.", "quality"],
  ["latency_ms", "Mean latency of at most", "Milliseconds.", "quality"],
  ["queue_depth", "Waiting items of at most", "Of each pool.", "load"],
  ["dead_letters", "Dead letters of at most", "Of each pool.", "load"],
  ["simulated_changes", "Simulated changes of at most", "A share from 0 to 1.", "simulated"],
  ["simulated_wait_ms", "Simulated wait of at most", "Milliseconds, 95th percentile.", "simulated"],
] as const;

const baseFields: readonly Field[] = [
  { name: "name", label: "Name", placeholder: "Leads go to Ben", hint: "The names of the targets when empty." },
  { name: "description", label: "What changes, and why?", kind: "long" },
  {
    name: "artifacts",
    label: "Versions to promote",
    kind: "json",
    required: true,
    control: ({ id, text, set }) => <ArtifactPicker id={id} set={set} text={text} />,
  },
  ...limits.map(
    ([metric, label, hint, row]): Field => ({ name: `limits.${metric}`, label, hint, kind: "number", row }),
  ),
];

/** Creates a candidate: chooses exact versions, and the limits that must hold before a canary. */
export function CandidateForm({ onClose }: { readonly onClose: () => void }) {
  const open = useQuery(can("evidence:read") ? "evidence packs" : undefined, () =>
    packs.listPacks({ limit: 200, status: "open" }).page(),
  );
  // Whoever has just staged a version of a pool comes to promote it.
  const [ref, version] = filterOf("staged")?.split(":") ?? [];
  const artifacts = ref === undefined ? undefined : [{ kind: "strategy", ref, version: Number(version) }];
  const choices = (open.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const fields: readonly Field[] = [
    ...baseFields,
    ...(choices.length > 0 ? [{ name: "pack_id", label: "Evidence pack", kind: "choice" as const, choices }] : []),
    ...(can("promotion:waive")
      ? [
          {
            name: "waiver_reason",
            label: "Why it needs no traffic",
            hint: "For targets without any outcome: guardrails and canary then pass. It cannot be given later.",
          },
        ]
      : []),
  ];
  return (
    <FormDialog
      done="The candidate was created. Its next step is the preflight."
      fields={[...fields, ...environmentFields()]}
      initial={{ artifacts, limits: { success: 0.9 }, ...initialEnvironment() }}
      onClose={() => {
        setQuery({ staged: undefined });
        onClose();
      }}
      onSubmit={async ({ limits: chosen, ...values }) => {
        const guardrails = Object.entries((chosen ?? {}) as Record<string, number>).map(([metric, limit]) => ({
          metric,
          limit,
        }));
        const { id } = await promotions.createCandidate({ ...values, guardrails } as unknown as CreateCandidateRequest);
        navigate(href(`promotions/${id}`));
      }}
      submit="Create candidate"
      title="New candidate"
      wide
    >
      {({ limits: chosen, waiver_reason }) => (
        <>
          {chosen === undefined && <Notice tone="info">Without a limit, a success of at least 0.9 must hold.</Notice>}
          {waiver_reason === undefined && (
            <Notice tone="info">
              Success and latency are measured on items with a key. Without such items, the guardrails are inconclusive,
              and the candidate cannot go on.
            </Notice>
          )}
        </>
      )}
    </FormDialog>
  );
}
