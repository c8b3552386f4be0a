import {
  type CreateExperimentRequest,
  createExperimentService,
  type Experiment,
  type UpdateExperimentRequest,
  type ValidateExperimentRequest,
} from "@client/gen/experiment";
import { useState } from "preact/hooks";
import { transport } from "../../core/transport";
import { useTypedQuery } from "../../core/typed-query";
import { Button } from "../../ui/button";
import { type Field, FormDialog, type Texts, type Values } from "../../ui/form";
import { placeViolations, readRows, splitViolations } from "../../ui/form/form-values";
import { formatCount } from "../../ui/format";
import { Notice } from "../../ui/text";
import { initialEnvironment } from "../shared/environment";
import { experimentFields } from "./experiment-fields";

const experiments = createExperimentService(transport);

const firstDesign = {
  variants: [
    { key: "old", weight: 50 },
    { key: "new", weight: 50 },
  ],
  metrics: [{ key: "bought", type: "proportion" }],
  allocation_pct: 100,
  score_window_s: 86_400,
  planned_units: 10_000,
  alpha: 0.05,
};

interface Props {
  /** The experiment to change; a new one is created without it. */
  readonly experiment?: Experiment;
  readonly onSaved: (experiment: Experiment) => void;
  readonly onClose: () => void;
}

/** Creates or changes an experiment. What it needs is estimated while somebody types. */
export function ExperimentForm({ experiment, onSaved, onClose }: Props) {
  const [texts, enter] = useState<Texts>({});
  const keys = readRows(texts.variants ?? "").flatMap(({ key = "" }) => (key === "" ? [] : key));
  const fields = experimentFields(experiment, keys);
  return (
    <FormDialog
      done={experiment === undefined ? "The experiment was created as a draft." : "The experiment was changed."}
      fields={fields}
      initial={
        experiment === undefined
          ? { ...firstDesign, ...initialEnvironment() }
          : { ...experiment, expected_units_per_day: experiment.expected_units_per_day || undefined }
      }
      onClose={onClose}
      onEnter={enter}
      onSubmit={async (values) => onSaved(await save(values, experiment))}
      submit={experiment === undefined ? "Create draft" : "Save changes"}
      title={experiment === undefined ? "New experiment" : `Change ${experiment.name || experiment.key}`}
      wide
    >
      {(values, set) => (
        <Plan
          design={{ key: experiment?.key ?? "new", ...experiment, ...values }}
          fields={fields}
          plan={(units) => set("planned_units", String(units))}
          texts={texts}
        />
      )}
    </FormDialog>
  );
}

function save(values: Values, experiment: Experiment | undefined): Promise<Experiment> {
  if (experiment === undefined) return experiments.create(values as unknown as CreateExperimentRequest);
  const { variants, metrics, ...others } = values;
  const change = {
    ...others,
    variant_set: { variants },
    ...(metrics !== undefined && { metric_set: { metrics } }),
    experiment_id: experiment.id,
    record_version: experiment.record_version,
  };
  return experiments.update(change as unknown as UpdateExperimentRequest);
}

interface PlanProps {
  readonly design: Values;
  readonly fields: readonly Field[];
  readonly texts: Texts;
  /** Takes a number of planned units over. */
  readonly plan: (units: number) => void;
}

/** The estimate of what is entered, and what is worth knowing about it, or why there is none. */
function Plan({ design, fields, texts, plan }: PlanProps) {
  const { key, variants, control, targeting, metrics, allocation_pct, score_window_s, planned_units } = design;
  const request = {
    ...{ key, variants, control, targeting, metrics, allocation_pct, score_window_s, planned_units },
    expected_units_per_day: design.expected_units_per_day,
  };
  const { data, error } = useTypedQuery(JSON.stringify(request), () =>
    experiments.validate(request as ValidateExperimentRequest),
  );
  if (data === undefined && error === undefined) return null;
  if (data === undefined || !data.valid) {
    const { found, rest } =
      data === undefined ? splitViolations(error, fields, texts) : placeViolations(data.violations, fields, texts);
    return <Notice tone="warn">There is no estimate yet. {[...Object.values(found), rest].join(" ")}</Notice>;
  }
  const units = Number(data.minimum_units);
  return (
    <Notice tone="info">
      {units > 0 && (
        <p>
          About {formatCount(units)} units find the smallest lifts
          {data.expected_days > 0 && `, in about ${formatCount(Math.ceil(data.expected_days))} days`}.{" "}
          {units > Number(planned_units) && fields.some(({ name }) => name === "planned_units") && (
            <Button onClick={() => plan(units)} small>
              Plan {formatCount(units)} units
            </Button>
          )}
        </p>
      )}
      {units === 0 && <p>Metrics with an expected value and a smallest lift give an estimate of the units needed.</p>}
      {data.notes.map((note) => (
        <p key={note}>{note.replace("planned_units", "Planned units")}</p>
      ))}
    </Notice>
  );
}
