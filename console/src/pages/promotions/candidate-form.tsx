import { type CreateCandidateRequest, createPromotionService } from "@client/gen/promotion";
import { href, navigate } from "../../core/router";
import { transport } from "../../core/transport";
import { type Field, FormDialog } from "../../ui/form";
import { environmentFields, initialEnvironment } from "../shared/environment";
import { ArtifactPicker } from "./artifact-picker";

const promotions = createPromotionService(transport);

const limits = [
  ["success", "Success of at least", "A share from 0 to 1.", "quality"],
  ["latency_ms", "Mean latency of at most", "Milliseconds.", "quality"],
  ["queue_depth", "Waiting items of at most", "Of each pool.", "load"],
  ["dead_letters", "Dead letters of at most", "Of each pool.", "load"],
] as const;

const fields: readonly Field[] = [
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
  { name: "pack_id", label: "Evidence pack", hint: "The id of the pack." },
];

/** Creates a candidate: chooses exact versions, and the limits that must hold before a canary. */
export function CandidateForm({ onClose }: { readonly onClose: () => void }) {
  return (
    <FormDialog
      done="The candidate was created. Its next step is the preflight."
      fields={[...fields, ...environmentFields()]}
      initial={{ limits: { success: 0.9 }, ...initialEnvironment() }}
      onClose={onClose}
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
    />
  );
}
