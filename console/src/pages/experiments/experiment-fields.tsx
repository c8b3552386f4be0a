import type { Experiment } from "@client/gen/experiment";
import { CelEditor } from "../../ui/cel-editor";
import type { Field, Texts } from "../../ui/form";
import { words } from "../../ui/format";
import { environmentFields } from "../shared/environment";

const choicesOf = (values: readonly string[]) => values.map((value) => ({ value, label: words(value) }));
const isGuardrail = ({ role }: Texts) => role === "guardrail";
/** Proportions and rare events count units, so that they have no values to cap or aggregate. */
const hasValues = ({ type }: Texts) => type !== "proportion" && type !== "rare_event";

const variantFields: readonly Field[] = [
  { name: "key", label: "Key", required: true, placeholder: "new" },
  { name: "weight", label: "Weight", kind: "number" },
  { name: "description", label: "Meaning" },
  { name: "value", label: "Value for callers", kind: "value" },
];

const metricFields: readonly Field[] = [
  { name: "key", label: "Key", required: true, placeholder: "bought" },
  {
    name: "type",
    label: "Type",
    kind: "choice",
    required: true,
    choices: choicesOf(["proportion", "mean", "count", "ratio", "rare_event"]),
  },
  { name: "role", label: "Role", kind: "choice", required: true, choices: choicesOf(["success", "guardrail"]) },
  {
    name: "direction",
    label: "Better is an",
    kind: "choice",
    required: true,
    choices: choicesOf(["increase", "decrease"]),
  },
  {
    name: "aggregation",
    label: "Scores of a unit",
    kind: "choice",
    required: true,
    choices: choicesOf(["sum", "last", "average", "max"]),
    appliesTo: hasValues,
  },
  { name: "margin", label: "Margin", kind: "number", appliesTo: isGuardrail, hint: "How much worse it may get." },
  { name: "winsor_cap", label: "Largest value", kind: "number", appliesTo: hasValues },
  { name: "baseline", label: "Expected now", kind: "number" },
  { name: "baseline_deviation", label: "Deviation", kind: "number", appliesTo: hasValues },
  { name: "minimum_lift", label: "Smallest lift", kind: "number", hint: "0.1 is 10 %." },
];

/** The fields of an experiment: all of them before its start, and those that can change after it. */
export function experimentFields(experiment: Experiment | undefined, variantKeys: readonly string[]): readonly Field[] {
  const isDraft = experiment === undefined || experiment.status === "draft";
  const fields: readonly (Field & { readonly isFixed?: boolean })[] = [
    ...(experiment === undefined
      ? [{ name: "key", label: "Key", required: true, row: "names", placeholder: "checkout" }]
      : []),
    { name: "name", label: "Name", row: "names", required: experiment !== undefined },
    ...(experiment === undefined ? environmentFields() : []),
    { name: "description", label: "Question", kind: "long" },
    {
      name: "variants",
      label: "Variants",
      kind: "rows",
      required: true,
      fields: variantFields,
      hint: isDraft ? undefined : "Weights, meanings and values can change. Keys are fixed by the start.",
    },
    { name: "metrics", label: "Metrics", kind: "rows", fields: metricFields, isFixed: true },
    {
      name: "targeting",
      label: "Who may enter",
      isFixed: true,
      hint: `A condition in CEL over unit and attributes, such as attributes.country == "CH". Everybody when empty.`,
      control: ({ id, text, set }) => <CelEditor id={id} label="Who may enter, in CEL" onInput={set} text={text} />,
    },
    {
      name: "control",
      label: "Compared with",
      kind: "choice",
      choices: variantKeys,
      row: "who",
      isFixed: true,
      hint: "The first variant when empty.",
    },
    { name: "unit", label: "Unit", row: "who", placeholder: "user", isFixed: true },
    { name: "allocation_pct", label: "Units that enter, percent", kind: "number", required: true, row: "who" },
    {
      name: "score_window_s",
      label: "Score window",
      kind: "duration",
      required: true,
      row: "plan",
      isFixed: true,
      hint: "A unit counts when this time has passed since it got its variant.",
    },
    { name: "planned_units", label: "Planned units", kind: "number", required: true, row: "plan", isFixed: true },
    { name: "expected_units_per_day", label: "Units per day", kind: "number", cleared: 0, row: "plan" },
    {
      name: "alpha",
      label: "False winners, share",
      kind: "number",
      required: true,
      row: "layer",
      isFixed: true,
      hint: "0.05 is at most one in twenty.",
    },
    {
      name: "layer.key",
      label: "Exclusion layer",
      row: "layer",
      isFixed: true,
      hint: "A unit enters one experiment of a layer.",
    },
    { name: "layer.pct", label: "Share of the layer, percent", kind: "number", row: "layer", isFixed: true },
  ];
  return fields.filter(({ isFixed }) => isDraft || !isFixed);
}
