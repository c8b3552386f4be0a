// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonValue } from "../json.ts";
import type { Violation } from "./violation.ts";

/** Experiments: assigns variants to units, records outcomes, and says which variant is better. An experiment with one variant is a feature flag. */
export interface ExperimentService {
  /** Creates an experiment as a draft. A draft assigns nothing until it is started. */
  create(request: CreateExperimentRequest, options?: CallOptions): Promise<Experiment>;

  /** Checks a draft without storing it, and estimates the units and the days that it needs. */
  validate(request: ValidateExperimentRequest, options?: CallOptions): Promise<ExperimentPlan>;

  /** Returns one experiment. */
  get(request: GetExperimentRequest, options?: CallOptions): Promise<Experiment>;

  /** Lists the experiments of the caller's tenant, oldest first. */
  list(request?: ListExperimentsRequest, options?: CallOptions): List<Experiment>;

  /** Changes an experiment. A draft can be changed in every field. While it is running or paused, only name, description, allocation and weights can be changed; new weights and a new allocation begin a new phase, for new units only. */
  update(request: UpdateExperimentRequest, options?: CallOptions): Promise<Experiment>;

  /** Deletes a draft. */
  delete(request: DeleteExperimentRequest, options?: CallOptions): Promise<DeleteExperimentResponse>;

  /** Starts a draft, or continues a paused experiment. */
  start(request: StartExperimentRequest, options?: CallOptions): Promise<Experiment>;

  /** Pauses a running experiment: no new unit enters it. Units that are in it keep their variant, and scores are accepted. */
  pause(request: PauseExperimentRequest, options?: CallOptions): Promise<Experiment>;

  /** Completes an experiment with a decision. Its results are frozen; later scores are kept and not counted. */
  complete(request: CompleteExperimentRequest, options?: CallOptions): Promise<Experiment>;

  /** Stops an experiment without a decision. Its results are frozen; later scores are kept and not counted. */
  stop(request: StopExperimentRequest, options?: CallOptions): Promise<Experiment>;

  /** Returns the variant of a unit and the signed receipt of its exposure. A unit keeps the variant of its first exposure. */
  assign(request: AssignExperimentRequest, options?: CallOptions): Promise<ExperimentAssignment>;

  /** Returns the variants of up to 1000 units. */
  assignBatch(request: AssignExperimentBatchRequest, options?: CallOptions): Promise<AssignExperimentBatchResponse>;

  /** Verifies the signature of an exposure receipt. Needs no credentials. */
  verifyExposureReceipt(request: VerifyExposureReceiptRequest, options?: CallOptions): Promise<ReceiptVerification>;

  /** Records an outcome of a unit. A repeated score_id with the same content changes nothing; with another content it is refused. */
  recordScore(request: RecordScoreRequest, options?: CallOptions): Promise<ExperimentScore>;

  /** Records up to 1000 outcomes, each with its own result. */
  recordScoreBatch(request: RecordScoreBatchRequest, options?: CallOptions): Promise<RecordScoreBatchResponse>;

  /** Returns the results: per variant and metric the mean, the difference from control, an always-valid interval and p-value, the sample-ratio check, the verdict, and a sentence that says what to do. */
  getResults(request: GetExperimentResultsRequest, options?: CallOptions): Promise<ExperimentResults>;

  /** Returns the results over time, for a chart. */
  getHistory(request: GetExperimentHistoryRequest, options?: CallOptions): Promise<ExperimentHistory>;

  /** Exports the results as CSV or JSON text. */
  exportResults(request: ExportExperimentResultsRequest, options?: CallOptions): Promise<ExperimentExport>;
}

const experimentServiceOperations = {
  create: { verb: "POST", path: "/api/experiments", body: "*", keyed: true },
  validate: { verb: "POST", path: "/api/experiments:validate", body: "*" },
  get: { verb: "GET", path: "/api/experiments/{experiment_id}" },
  list: { verb: "GET", path: "/api/experiments", result: "cursor" },
  update: { verb: "PATCH", path: "/api/experiments/{experiment_id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/experiments/{experiment_id}", keyed: true },
  start: { verb: "POST", path: "/api/experiments/{experiment_id}/start", body: "*", keyed: true },
  pause: { verb: "POST", path: "/api/experiments/{experiment_id}/pause", body: "*", keyed: true },
  complete: { verb: "POST", path: "/api/experiments/{experiment_id}/complete", body: "*", keyed: true },
  stop: { verb: "POST", path: "/api/experiments/{experiment_id}/stop", body: "*", keyed: true },
  assign: { verb: "POST", path: "/api/experiments/{experiment_id}/assign", body: "*", keyed: true },
  assignBatch: { verb: "POST", path: "/api/experiments/{experiment_id}/assign:batch", body: "*", keyed: true },
  verifyExposureReceipt: { verb: "POST", path: "/api/experiments/receipts:verify", body: "*" },
  recordScore: { verb: "POST", path: "/api/experiments/{experiment_id}/scores", body: "*", keyed: true },
  recordScoreBatch: { verb: "POST", path: "/api/experiments/{experiment_id}/scores:batch", body: "*", keyed: true },
  getResults: { verb: "GET", path: "/api/experiments/{experiment_id}/results" },
  getHistory: { verb: "GET", path: "/api/experiments/{experiment_id}/results/history" },
  exportResults: { verb: "GET", path: "/api/experiments/{experiment_id}/results:export" },
} as const satisfies Record<keyof ExperimentService, Operation>;

/** Creates the service over a transport. */
export function createExperimentService(transport: Transport): ExperimentService {
  return bindOperations<ExperimentService>(transport, experimentServiceOperations);
}

/** A variant of an experiment. */
export type ExperimentVariantInput = {
  /** The key. */
  readonly key: string;
  /** The share of new units, relative to the sum of all weights. 0 assigns no new units. Leave out all weights for equal shares. */
  readonly weight?: number;
  /** What it is, for people. */
  readonly description?: string;
  /** A value for callers, such as a colour or a configuration; assignments return it. */
  readonly value?: unknown;
};

/** A metric of an experiment. Every unit has one value per metric, aggregated from its scores. */
export type ExperimentMetricInput = {
  /** The key. */
  readonly key: string;
  /** mean (of a number per unit; units without a score are left out), count (of something per unit; units without a score count as 0), proportion (of units with a positive score), rare_event (a proportion of few units, such as errors of a canary; it is compared by its relative rate) or ratio (of two sums, such as clicks per view; units without a score are left out). */
  readonly type: "mean" | "proportion" | "count" | "ratio" | "rare_event";
  /** success (decides the winner) or guardrail (must not get worse); success by default. */
  readonly role?: "" | "success" | "guardrail";
  /** What is better: increase or decrease; increase by default. */
  readonly direction?: "" | "increase" | "decrease";
  /** guardrail: how much worse than control it may get, in the metric's own unit; for a rare_event relative to its rate (0.5 for half as many events again). */
  readonly margin?: number;
  /** The largest value of a unit; larger ones count as this one. Without a cap when absent. */
  readonly winsor_cap?: number;
  /** How a unit's scores become its value: sum, last, average or max; sum by default. A proportion is always 1 or 0. */
  readonly aggregation?: "" | "sum" | "last" | "average" | "max";
  /** The expected mean or rate of control; with minimum_lift, it gives the estimate of the units needed. */
  readonly baseline?: number;
  /** The expected standard deviation of a unit's value, for means, counts and ratios. */
  readonly baseline_deviation?: number;
  /** The smallest difference that matters, as a fraction of the baseline: 0.1 for 10 percent. */
  readonly minimum_lift?: number;
};

/** A share of an exclusion layer. A unit is in at most one of the experiments of a layer. */
export type ExperimentLayerInput = {
  /** The key of the layer, within its environment. */
  readonly key: string;
  /** The percentage of units that this experiment takes. The start reserves it; the end frees it. */
  readonly pct: number;
};

/** The fields of a draft. */
export type CreateExperimentRequest = {
  /** The key, unique in its environment. */
  readonly key: string;
  /** The display name; the key by default. */
  readonly name?: string;
  /** What it is about. */
  readonly description?: string;
  /** The id or the key of the environment; production by default. */
  readonly environment_id?: string;
  /** What is assigned, for people; user by default. */
  readonly unit?: string;
  /** The variants. One variant makes a feature flag. */
  readonly variants: readonly ExperimentVariantInput[];
  /** The variant that the others are compared with; the first by default. */
  readonly control?: string;
  /** The percentage of units that enter the experiment; 100 by default. */
  readonly allocation_pct?: number;
  /** Which units may enter: a CEL condition over unit and attributes, such as attributes.country == "CH". */
  readonly targeting?: string;
  /** The metrics. A feature flag needs none. */
  readonly metrics?: readonly ExperimentMetricInput[];
  /** How long after the first exposure the scores of a unit count, in seconds; 30 days by default. */
  readonly score_window_s?: number;
  /** The share of an exclusion layer. */
  readonly layer?: ExperimentLayerInput;
  /** The number of units that the analysis is tuned for: its intervals are narrowest there; 10000 by default. */
  readonly planned_units?: number;
  /** The probability of a false winner; 0.05 by default. */
  readonly alpha?: number;
  /** How many units arrive per day, for the estimate of the duration. */
  readonly expected_units_per_day?: number;
};

/** An experiment, a canary or a feature flag. */
export type Experiment = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The key, unique in its environment; rules and workflows name it. */
  readonly key: string;
  /** The display name. */
  readonly name: string;
  /** What it is about. */
  readonly description: string;
  /** draft, running, paused, completed or stopped. */
  readonly status: string;
  /** What is assigned, for people. */
  readonly unit: string;
  /** The variants. */
  readonly variants: readonly ExperimentVariant[];
  /** The variant that the others are compared with. */
  readonly control: string;
  /** The percentage of units that enter the experiment. */
  readonly allocation_pct: number;
  /** Which units may enter: a CEL condition over unit and attributes; empty for all. */
  readonly targeting: string;
  /** The metrics. */
  readonly metrics: readonly ExperimentMetric[];
  /** How long after the first exposure the scores of a unit count, in seconds. The unit then enters the results. With 0, it enters at once, and its scores count as they arrive. */
  readonly score_window_s: number;
  /** The share of an exclusion layer, if any. */
  readonly layer?: ExperimentLayer;
  /** The number of units that the analysis is tuned for; fixed by the start. */
  readonly planned_units: number;
  /** The probability of a false winner. */
  readonly alpha: number;
  /** How many units arrive per day, for the estimate of the duration; 0 if unknown. */
  readonly expected_units_per_day: number;
  /** The phases; empty for a draft. */
  readonly phases: readonly ExperimentPhase[];
  /** When it was started first. */
  readonly started_at?: string;
  /** When it was completed or stopped. */
  readonly ended_at?: string;
  /** The decision of a completed experiment. */
  readonly decision?: ExperimentDecision;
  /** The calls that are possible in this status. */
  readonly possible_calls: readonly string[];
  /** When it was created. */
  readonly created_at?: string;
  /** When it was last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** A variant of an experiment. */
export type ExperimentVariant = {
  /** The key. */
  readonly key: string;
  /** The share of new units, relative to the sum of all weights. 0 assigns no new units. Leave out all weights for equal shares. */
  readonly weight?: number;
  /** What it is, for people. */
  readonly description: string;
  /** A value for callers, such as a colour or a configuration; assignments return it. */
  readonly value?: JsonValue;
};

/** A metric of an experiment. Every unit has one value per metric, aggregated from its scores. */
export type ExperimentMetric = {
  /** The key. */
  readonly key: string;
  /** mean (of a number per unit; units without a score are left out), count (of something per unit; units without a score count as 0), proportion (of units with a positive score), rare_event (a proportion of few units, such as errors of a canary; it is compared by its relative rate) or ratio (of two sums, such as clicks per view; units without a score are left out). */
  readonly type: string;
  /** success (decides the winner) or guardrail (must not get worse); success by default. */
  readonly role: string;
  /** What is better: increase or decrease; increase by default. */
  readonly direction: string;
  /** guardrail: how much worse than control it may get, in the metric's own unit; for a rare_event relative to its rate (0.5 for half as many events again). */
  readonly margin: number;
  /** The largest value of a unit; larger ones count as this one. Without a cap when absent. */
  readonly winsor_cap?: number;
  /** How a unit's scores become its value: sum, last, average or max; sum by default. A proportion is always 1 or 0. */
  readonly aggregation: string;
  /** The expected mean or rate of control; with minimum_lift, it gives the estimate of the units needed. */
  readonly baseline?: number;
  /** The expected standard deviation of a unit's value, for means, counts and ratios. */
  readonly baseline_deviation?: number;
  /** The smallest difference that matters, as a fraction of the baseline: 0.1 for 10 percent. */
  readonly minimum_lift?: number;
};

/** A share of an exclusion layer. A unit is in at most one of the experiments of a layer. */
export type ExperimentLayer = {
  /** The key of the layer, within its environment. */
  readonly key: string;
  /** The percentage of units that this experiment takes. The start reserves it; the end frees it. */
  readonly pct: number;
};

/** A period with the same weights and allocation. Units belong to the phase of their first exposure. */
export type ExperimentPhase = {
  /** The number, from 1. */
  readonly number: number;
  /** The weights of the variants, in their order. */
  readonly weights: readonly number[];
  /** The allocation in percent. */
  readonly allocation_pct: number;
  /** When it began. */
  readonly started_at?: string;
};

/** The decision that completed an experiment. */
export type ExperimentDecision = {
  /** The variant that every unit gets from now on; empty for none. */
  readonly variant: string;
  /** Why. */
  readonly reason: string;
  /** The verdict of the results at that time. */
  readonly verdict: string;
  /** Who decided. */
  readonly decided_by: string;
};

/** Checks a draft. */
export type ValidateExperimentRequest = {
  /** The key, unique in its environment. */
  readonly key: string;
  /** The display name; the key by default. */
  readonly name?: string;
  /** What it is about. */
  readonly description?: string;
  /** The id or the key of the environment; production by default. */
  readonly environment_id?: string;
  /** What is assigned, for people; user by default. */
  readonly unit?: string;
  /** The variants. One variant makes a feature flag. */
  readonly variants: readonly ExperimentVariantInput[];
  /** The variant that the others are compared with; the first by default. */
  readonly control?: string;
  /** The percentage of units that enter the experiment; 100 by default. */
  readonly allocation_pct?: number;
  /** Which units may enter: a CEL condition over unit and attributes, such as attributes.country == "CH". */
  readonly targeting?: string;
  /** The metrics. A feature flag needs none. */
  readonly metrics?: readonly ExperimentMetricInput[];
  /** How long after the first exposure the scores of a unit count, in seconds; 30 days by default. */
  readonly score_window_s?: number;
  /** The share of an exclusion layer. */
  readonly layer?: ExperimentLayerInput;
  /** The number of units that the analysis is tuned for: its intervals are narrowest there; 10000 by default. */
  readonly planned_units?: number;
  /** The probability of a false winner; 0.05 by default. */
  readonly alpha?: number;
  /** How many units arrive per day, for the estimate of the duration. */
  readonly expected_units_per_day?: number;
};

/** What a draft needs. */
export type ExperimentPlan = {
  /** Whether it can be created and started as it is. */
  readonly valid: boolean;
  /** What is wrong. */
  readonly violations: readonly Violation[];
  /** What is allowed, but worth knowing. */
  readonly notes: readonly string[];
  /** The estimated number of units that finds the minimum lifts with 80 percent power; 0 if a metric lacks its baseline or minimum lift. */
  readonly minimum_units: number;
  /** The estimated days until that many units are in the results, the score window included; 0 if unknown. */
  readonly expected_days: number;
};

/** Returns one experiment. */
export type GetExperimentRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
};

/** Lists experiments. Filters that are empty match all. */
export type ListExperimentsRequest = {
  /** The page size: 50 by default, 1000 at most. */
  readonly limit?: number;
  /** The token of the previous page's response. */
  readonly cursor?: string;
  /** The number of items to skip. */
  readonly offset?: number;
  /** Only those with this status. */
  readonly status?: "" | "draft" | "running" | "paused" | "completed" | "stopped";
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only the one with this key. */
  readonly key?: string;
  /** Only those in this exclusion layer. */
  readonly layer?: string;
};

/** A list of variants. */
export type ExperimentVariants = {
  /** The variants. */
  readonly variants: readonly ExperimentVariantInput[];
};

/** A list of metrics. */
export type ExperimentMetrics = {
  /** The metrics. */
  readonly metrics?: readonly ExperimentMetricInput[];
};

/** A change of the layer. */
export type ExperimentLayerChange = {
  /** The key; empty for no layer. */
  readonly key?: string;
  /** The percentage of units. */
  readonly pct?: number;
};

/** Changes an experiment. Absent fields stay. */
export type UpdateExperimentRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
  /** The display name. */
  readonly name?: string;
  /** What it is about. */
  readonly description?: string;
  /** What is assigned, for people. */
  readonly unit?: string;
  /** Replaces the variants. After the start only weights, descriptions and values can change. */
  readonly variant_set?: ExperimentVariants;
  /** The variant that the others are compared with. */
  readonly control?: string;
  /** The percentage of units that enter the experiment. */
  readonly allocation_pct?: number;
  /** Which units may enter. */
  readonly targeting?: string;
  /** Replaces the metrics. */
  readonly metric_set?: ExperimentMetrics;
  /** How long after the first exposure the scores of a unit count, in seconds. */
  readonly score_window_s?: number;
  /** The share of an exclusion layer. An empty key removes it. */
  readonly layer?: ExperimentLayerChange;
  /** The number of units that the analysis is tuned for. */
  readonly planned_units?: number;
  /** The probability of a false winner. */
  readonly alpha?: number;
  /** How many units arrive per day. */
  readonly expected_units_per_day?: number;
  /** The expected version of the record; unconditional when absent. */
  readonly record_version?: number;
};

/** Deletes a draft. */
export type DeleteExperimentRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
};

/** The draft is deleted. */
export type DeleteExperimentResponse = Record<never, never>;

/** Starts or continues an experiment. */
export type StartExperimentRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
};

/** Pauses an experiment. */
export type PauseExperimentRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
};

/** Completes an experiment. */
export type CompleteExperimentRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
  /** The variant that every unit gets from now on; none when empty. */
  readonly variant?: string;
  /** Why. */
  readonly reason?: string;
};

/** Stops an experiment. */
export type StopExperimentRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
  /** Why. */
  readonly reason?: string;
};

/** Assigns a unit. */
export type AssignExperimentRequest = {
  /** The experiment's id, or its key in environment_id. */
  readonly experiment_id: string;
  /** The unit, such as the id of a user. */
  readonly unit: string;
  /** What targeting reads. */
  readonly attributes?: object;
  /** What was measured before the exposure, by metric; it reduces the variance of the results. Only the first exposure stores it. */
  readonly covariates?: Readonly<Record<string, number>>;
  /** The id or the key of the experiment's environment, in which its key is looked up; production by default. */
  readonly environment_id?: string;
};

/** The variant of a unit. */
export type ExperimentAssignment = {
  /** The experiment. */
  readonly experiment_id: string;
  /** The unit. */
  readonly unit: string;
  /** Whether the unit is in the experiment. Only such units have a receipt. */
  readonly in_experiment: boolean;
  /** The key of the variant; empty if the unit gets none. */
  readonly variant: string;
  /** The variant's value. */
  readonly value?: JsonValue;
  /** Why: assigned, not_targeted, targeting_failed, not_allocated, excluded_by_layer, paused, decided, completed or stopped. */
  readonly reason: string;
  /** The receipt of the exposure. */
  readonly receipt?: ExposureReceipt;
};

/** The signed proof of a unit's first exposure. */
export type ExposureReceipt = {
  /** The receipt as one text, with its signature. Send it with scores, or have it verified. */
  readonly token: string;
  /** The id. */
  readonly receipt_id: string;
  /** The version of the format. */
  readonly version: number;
  /** The tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The experiment. */
  readonly experiment_id: string;
  /** The phase of the first exposure. */
  readonly phase: number;
  /** A digest of the unit, different in every experiment. */
  readonly unit_hash: string;
  /** The variant. */
  readonly variant: string;
  /** The unit's position among 1000000. */
  readonly bucket: number;
  /** When the unit was exposed first. */
  readonly first_exposed_at?: string;
  /** The signature, in base64url. */
  readonly signature: string;
};

/** A unit of a batch. */
export type UnitToAssign = {
  /** The unit. */
  readonly unit: string;
  /** What targeting reads. */
  readonly attributes?: object;
  /** What was measured before the exposure, by metric. */
  readonly covariates?: Readonly<Record<string, number>>;
};

/** Assigns units. */
export type AssignExperimentBatchRequest = {
  /** The experiment's id, or its key in environment_id. */
  readonly experiment_id: string;
  /** The units. */
  readonly units: readonly UnitToAssign[];
  /** The id or the key of the experiment's environment, in which its key is looked up; production by default. */
  readonly environment_id?: string;
};

/** The variants of units. */
export type AssignExperimentBatchResponse = {
  /** The assignments, in the order of the request. */
  readonly assignments: readonly ExperimentAssignment[];
};

/** Verifies a receipt. */
export type VerifyExposureReceiptRequest = {
  /** The token of the receipt. */
  readonly token: string;
};

/** The result of a verification. */
export type ReceiptVerification = {
  /** Whether the service issued exactly this receipt. */
  readonly valid: boolean;
  /** Why it is not valid: malformed, unsupported_version or wrong_signature. */
  readonly reason: string;
  /** The receipt, if it is valid. */
  readonly receipt?: ExposureReceipt;
};

/** Records a score. */
export type RecordScoreRequest = {
  /** The experiment's id, or its key in environment_id. */
  readonly experiment_id: string;
  /** The caller's id of the score, unique in the experiment. */
  readonly score_id: string;
  /** The token of the unit's exposure receipt. Send it or the unit. */
  readonly receipt?: string;
  /** The unit. */
  readonly unit?: string;
  /** The metric. */
  readonly metric: string;
  /** The value; 1 by default. 0 or between 1e-30 and 1e30 in magnitude. */
  readonly value?: number;
  /** ratio: the denominator; 1 by default. 0 or between 1e-30 and 1e30 in magnitude. */
  readonly denominator?: number;
  /** When it happened; now by default. */
  readonly observed_at?: string | Date;
  /** The id or the key of the experiment's environment, in which its key is looked up; production by default. */
  readonly environment_id?: string;
};

/** An outcome of a unit. */
export type ExperimentScore = {
  /** The caller's id. */
  readonly score_id: string;
  /** The experiment. */
  readonly experiment_id: string;
  /** The metric. */
  readonly metric: string;
  /** The variant of the unit. */
  readonly variant: string;
  /** The phase of the unit. */
  readonly phase: number;
  /** The value. */
  readonly value: number;
  /** The denominator of a ratio; 1 otherwise. */
  readonly denominator: number;
  /** Whether it counts: pending (when the unit's window ends), early (happened before the exposure), late (happened or arrived after the window) or ended (arrived after the end of the experiment). Only pending ones count. */
  readonly state: string;
  /** When it happened. */
  readonly observed_at?: string;
  /** When it was recorded. */
  readonly recorded_at?: string;
};

/** A score of a batch. */
export type ScoreToRecord = {
  /** The caller's id of the score, unique in the experiment. */
  readonly score_id?: string;
  /** The token of the unit's exposure receipt. Send it or the unit. */
  readonly receipt?: string;
  /** The unit. */
  readonly unit?: string;
  /** The metric. */
  readonly metric?: string;
  /** The value; 1 by default. 0 or between 1e-30 and 1e30 in magnitude. */
  readonly value?: number;
  /** ratio: the denominator; 1 by default. 0 or between 1e-30 and 1e30 in magnitude. */
  readonly denominator?: number;
  /** When it happened; now by default. */
  readonly observed_at?: string | Date;
};

/** Records scores. */
export type RecordScoreBatchRequest = {
  /** The experiment's id, or its key in environment_id. */
  readonly experiment_id: string;
  /** The scores. */
  readonly scores: readonly ScoreToRecord[];
  /** The id or the key of the experiment's environment, in which its key is looked up; production by default. */
  readonly environment_id?: string;
};

/** The results of a batch. */
export type RecordScoreBatchResponse = {
  /** The results, in the order of the request. */
  readonly results: readonly ScoreResult[];
  /** How many were refused. */
  readonly refused: number;
};

/** The result of one score of a batch: the score, or why it was refused. */
export type ScoreResult = {
  /** The recorded score. */
  readonly score?: ExperimentScore;
  /** The error code, such as SCORE_ID_REUSED; empty for a recorded score. */
  readonly error_code: string;
  /** What was wrong. */
  readonly error: string;
};

/** Returns the results. */
export type GetExperimentResultsRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
};

/** The results of an experiment. */
export type ExperimentResults = {
  /** The experiment. */
  readonly experiment_id: string;
  /** Its status. */
  readonly status: string;
  /** insufficient, inconclusive, winner, loser or invalid. */
  readonly verdict: string;
  /** The variant to choose, if the verdict is winner. */
  readonly winner: string;
  /** What it means and what to do. */
  readonly sentence: string;
  /** The variants. */
  readonly variants: readonly VariantResults[];
  /** Whether the variants have the sizes that their weights predict. */
  readonly sample_ratio?: SampleRatioResults;
  /** The number of exposed units. */
  readonly units: number;
  /** The number of units whose window has ended; only they are in the results. */
  readonly mature_units: number;
  /** Whether the experiment has ended and the results no longer change. */
  readonly frozen: boolean;
  /** When they were computed. */
  readonly computed_at?: string;
  /** The probability of a false winner. */
  readonly alpha: number;
  /** The number of units that the analysis is tuned for. */
  readonly planned_units: number;
};

/** The results of a variant. */
export type VariantResults = {
  /** The variant. */
  readonly variant: string;
  /** Whether it is the one that the others are compared with. */
  readonly control: boolean;
  /** The number of exposed units. */
  readonly units: number;
  /** The number of units whose window has ended. */
  readonly mature_units: number;
  /** insufficient, inconclusive, winner, loser or invalid; empty for control. */
  readonly verdict: string;
  /** The metrics. */
  readonly metrics: readonly MetricResults[];
};

/** The results of a metric of a variant. */
export type MetricResults = {
  /** The metric. */
  readonly metric: string;
  /** The number of units with a value. */
  readonly n: number;
  /** The number of units that were left out because they have no score. */
  readonly missing: number;
  /** The mean; absent without units. */
  readonly mean?: number;
  /** The variance of the units' values. */
  readonly variance?: number;
  /** The always-valid interval of the mean. */
  readonly interval?: ResultInterval;
  /** The comparison with control; absent for control itself. */
  readonly comparison?: MetricComparison;
};

/** An interval. */
export type ResultInterval = {
  /** The lower end. */
  readonly lower: number;
  /** The upper end. */
  readonly upper: number;
};

/** The comparison of a metric with control. */
export type MetricComparison = {
  /** success or guardrail. */
  readonly role: string;
  /** insufficient, inconclusive, better or worse. */
  readonly state: string;
  /** guardrail: whether the interval excludes a harm beyond the margin. */
  readonly within_margin?: boolean;
  /** The number of units that were compared. */
  readonly n: number;
  /** The difference from control; absent for a rare event. */
  readonly difference?: number;
  /** Its always-valid interval. */
  readonly interval?: ResultInterval;
  /** The relative difference: 0.1 is 10 percent more than control. */
  readonly lift?: number;
  /** Its always-valid interval. */
  readonly lift_interval?: ResultInterval;
  /** The always-valid p-value. */
  readonly p_value?: number;
  /** The probability of an error of this interval: alpha, divided among the success metrics and variants. */
  readonly alpha: number;
  /** What restricts the result: too_few_units, no_variance, control_may_be_zero, covariate_used, unscored_left_out or phase_left_out. */
  readonly notes: readonly string[];
  /** How many more units, events and units without events the smallest variant needs. */
  readonly needs?: ComparisonNeeds;
};

/** What a comparison lacks. */
export type ComparisonNeeds = {
  /** Units. */
  readonly units: number;
  /** Units with an event. */
  readonly events: number;
  /** Units without one. */
  readonly non_events: number;
};

/** The check of the sizes of the variants. */
export type SampleRatioResults = {
  /** The always-valid p-value. Below 0.001 the results are invalid. */
  readonly p_value: number;
  /** Whether the results are invalid because of it. */
  readonly mismatch: boolean;
  /** The variants. */
  readonly arms: readonly SampleRatioArm[];
};

/** The size of a variant. */
export type SampleRatioArm = {
  /** The variant. */
  readonly variant: string;
  /** The number of exposed units. */
  readonly units: number;
  /** The number that the weights predict. */
  readonly expected: number;
};

/** Returns the results over time. */
export type GetExperimentHistoryRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
};

/** The results over time, oldest first, with at most 500 points. */
export type ExperimentHistory = {
  /** The points. */
  readonly points: readonly HistoryPoint[];
};

/** The results at one time. */
export type HistoryPoint = {
  /** When. */
  readonly at?: string;
  /** The verdict. */
  readonly verdict: string;
  /** The number of exposed units. */
  readonly units: number;
  /** The number of units in the results. */
  readonly mature_units: number;
  /** The comparisons with control. */
  readonly comparisons: readonly HistoryComparison[];
};

/** A comparison with control at one time. A rare event has a lift instead of a difference. */
export type HistoryComparison = {
  /** The variant. */
  readonly variant: string;
  /** The metric. */
  readonly metric: string;
  /** The difference from control. */
  readonly difference?: number;
  /** Its interval. */
  readonly interval?: ResultInterval;
  /** The relative difference. */
  readonly lift?: number;
  /** Its interval. */
  readonly lift_interval?: ResultInterval;
  /** The p-value. */
  readonly p_value?: number;
};

/** Exports the results. */
export type ExportExperimentResultsRequest = {
  /** The experiment's id. */
  readonly experiment_id: string;
  /** csv or json; csv by default. */
  readonly format?: "" | "csv" | "json";
};

/** Results as text. */
export type ExperimentExport = {
  /** A name for the file. */
  readonly file_name: string;
  /** text/csv or application/json. */
  readonly content_type: string;
  /** The text. */
  readonly content: string;
};
