# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .violation import Violation


class _ExperimentRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The key, unique in its environment; rules and workflows name it.
    key: str
    #: The display name.
    name: str
    #: What it is about.
    description: str
    #: draft, running, paused, completed or stopped.
    status: str
    #: What is assigned, for people.
    unit: str
    #: The variants.
    variants: List[ExperimentVariant]
    #: The variant that the others are compared with.
    control: str
    #: The percentage of units that enter the experiment.
    allocation_pct: float
    #: Which units may enter: a CEL condition over unit and attributes; empty for all.
    targeting: str
    #: The metrics.
    metrics: List[ExperimentMetric]
    #: How long after the first exposure the scores of a unit count, in seconds. The unit then enters the results. With 0, it enters at once, and its scores count as they arrive.
    score_window_s: int
    #: The number of units that the analysis is tuned for; fixed by the start.
    planned_units: int
    #: The probability of a false winner.
    alpha: float
    #: How many units arrive per day, for the estimate of the duration; 0 if unknown.
    expected_units_per_day: float
    #: The phases; empty for a draft.
    phases: List[ExperimentPhase]
    #: The calls that are possible in this status.
    possible_calls: List[str]
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Experiment(_ExperimentRequired, total=False):
    """An experiment, a canary or a feature flag."""

    #: The share of an exclusion layer, if any.
    layer: ExperimentLayer
    #: When it was started first.
    started_at: str
    #: When it was completed or stopped.
    ended_at: str
    #: The decision of a completed experiment.
    decision: ExperimentDecision
    #: When it was created.
    created_at: str
    #: When it was last changed.
    updated_at: str


class _ExperimentVariantRequired(TypedDict):
    #: The key.
    key: str
    #: What it is, for people.
    description: str


class ExperimentVariant(_ExperimentVariantRequired, total=False):
    """A variant of an experiment."""

    #: The share of new units, relative to the sum of all weights. 0 assigns no new units. Leave out all weights for equal shares.
    weight: float
    #: A value for callers, such as a colour or a configuration; assignments return it.
    value: Any


class _ExperimentMetricRequired(TypedDict):
    #: The key.
    key: str
    #: mean (of a number per unit; units without a score are left out), count (of something per unit; units without a score count as 0), proportion (of units with a positive score), rare_event (a proportion of few units, such as errors of a canary; it is compared by its relative rate) or ratio (of two sums, such as clicks per view; units without a score are left out).
    type: str
    #: success (decides the winner) or guardrail (must not get worse); success by default.
    role: str
    #: What is better: increase or decrease; increase by default.
    direction: str
    #: guardrail: how much worse than control it may get, in the metric's own unit; for a rare_event relative to its rate (0.5 for half as many events again).
    margin: float
    #: How a unit's scores become its value: sum, last, average or max; sum by default. A proportion is always 1 or 0.
    aggregation: str


class ExperimentMetric(_ExperimentMetricRequired, total=False):
    """A metric of an experiment. Every unit has one value per metric, aggregated from its scores."""

    #: The largest value of a unit; larger ones count as this one. Without a cap when absent.
    winsor_cap: float
    #: The expected mean or rate of control; with minimum_lift, it gives the estimate of the units needed.
    baseline: float
    #: The expected standard deviation of a unit's value, for means, counts and ratios.
    baseline_deviation: float
    #: The smallest difference that matters, as a fraction of the baseline: 0.1 for 10 percent.
    minimum_lift: float


class ExperimentLayer(TypedDict):
    """A share of an exclusion layer. A unit is in at most one of the experiments of a layer."""

    #: The key of the layer, within its environment.
    key: str
    #: The percentage of units that this experiment takes. The start reserves it; the end frees it.
    pct: float


class _ExperimentPhaseRequired(TypedDict):
    #: The number, from 1.
    number: int
    #: The weights of the variants, in their order.
    weights: List[float]
    #: The allocation in percent.
    allocation_pct: float


class ExperimentPhase(_ExperimentPhaseRequired, total=False):
    """A period with the same weights and allocation. Units belong to the phase of their first exposure."""

    #: When it began.
    started_at: str


class ExperimentDecision(TypedDict):
    """The decision that completed an experiment."""

    #: The variant that every unit gets from now on; empty for none.
    variant: str
    #: Why.
    reason: str
    #: The verdict of the results at that time.
    verdict: str
    #: Who decided.
    decided_by: str


class _ExperimentVariantInputRequired(TypedDict):
    #: The key.
    key: str


class ExperimentVariantInput(_ExperimentVariantInputRequired, total=False):
    """A variant of an experiment."""

    #: The share of new units, relative to the sum of all weights. 0 assigns no new units. Leave out all weights for equal shares.
    weight: float
    #: What it is, for people.
    description: str
    #: A value for callers, such as a colour or a configuration; assignments return it.
    value: Any


class _ExperimentMetricInputRequired(TypedDict):
    #: The key.
    key: str
    #: mean (of a number per unit; units without a score are left out), count (of something per unit; units without a score count as 0), proportion (of units with a positive score), rare_event (a proportion of few units, such as errors of a canary; it is compared by its relative rate) or ratio (of two sums, such as clicks per view; units without a score are left out).
    type: Literal["mean", "proportion", "count", "ratio", "rare_event"]


class ExperimentMetricInput(_ExperimentMetricInputRequired, total=False):
    """A metric of an experiment. Every unit has one value per metric, aggregated from its scores."""

    #: success (decides the winner) or guardrail (must not get worse); success by default.
    role: Literal["", "success", "guardrail"]
    #: What is better: increase or decrease; increase by default.
    direction: Literal["", "increase", "decrease"]
    #: guardrail: how much worse than control it may get, in the metric's own unit; for a rare_event relative to its rate (0.5 for half as many events again).
    margin: float
    #: The largest value of a unit; larger ones count as this one. Without a cap when absent.
    winsor_cap: float
    #: How a unit's scores become its value: sum, last, average or max; sum by default. A proportion is always 1 or 0.
    aggregation: Literal["", "sum", "last", "average", "max"]
    #: The expected mean or rate of control; with minimum_lift, it gives the estimate of the units needed.
    baseline: float
    #: The expected standard deviation of a unit's value, for means, counts and ratios.
    baseline_deviation: float
    #: The smallest difference that matters, as a fraction of the baseline: 0.1 for 10 percent.
    minimum_lift: float


class ExperimentLayerInput(TypedDict):
    """A share of an exclusion layer. A unit is in at most one of the experiments of a layer."""

    #: The key of the layer, within its environment.
    key: str
    #: The percentage of units that this experiment takes. The start reserves it; the end frees it.
    pct: float


class ExperimentPlan(TypedDict):
    """What a draft needs."""

    #: Whether it can be created and started as it is.
    valid: bool
    #: What is wrong.
    violations: List[Violation]
    #: What is allowed, but worth knowing.
    notes: List[str]
    #: The estimated number of units that finds the minimum lifts with 80 percent power; 0 if a metric lacks its baseline or minimum lift.
    minimum_units: int
    #: The estimated days until that many units are in the results, the score window included; 0 if unknown.
    expected_days: float


class ExperimentVariants(TypedDict):
    """A list of variants."""

    #: The variants.
    variants: Sequence[ExperimentVariantInput]


class ExperimentMetrics(TypedDict, total=False):
    """A list of metrics."""

    #: The metrics.
    metrics: Sequence[ExperimentMetricInput]


class ExperimentLayerChange(TypedDict, total=False):
    """A change of the layer."""

    #: The key; empty for no layer.
    key: str
    #: The percentage of units.
    pct: float


class DeleteExperimentResponse(TypedDict):
    """The draft is deleted."""


class _ExperimentAssignmentRequired(TypedDict):
    #: The experiment.
    experiment_id: str
    #: The unit.
    unit: str
    #: Whether the unit is in the experiment. Only such units have a receipt.
    in_experiment: bool
    #: The key of the variant; empty if the unit gets none.
    variant: str
    #: Why: assigned, not_targeted, targeting_failed, not_allocated, excluded_by_layer, paused, decided, completed or stopped.
    reason: str


class ExperimentAssignment(_ExperimentAssignmentRequired, total=False):
    """The variant of a unit."""

    #: The variant's value.
    value: Any
    #: The receipt of the exposure.
    receipt: ExposureReceipt


class _ExposureReceiptRequired(TypedDict):
    #: The receipt as one text, with its signature. Send it with scores, or have it verified.
    token: str
    #: The id.
    receipt_id: str
    #: The version of the format.
    version: int
    #: The tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The experiment.
    experiment_id: str
    #: The phase of the first exposure.
    phase: int
    #: A digest of the unit, different in every experiment.
    unit_hash: str
    #: The variant.
    variant: str
    #: The unit's position among 1000000.
    bucket: int
    #: The signature, in base64url.
    signature: str


class ExposureReceipt(_ExposureReceiptRequired, total=False):
    """The signed proof of a unit's first exposure."""

    #: When the unit was exposed first.
    first_exposed_at: str


class AssignExperimentBatchResponse(TypedDict):
    """The variants of units."""

    #: The assignments, in the order of the request.
    assignments: List[ExperimentAssignment]


class _UnitToAssignRequired(TypedDict):
    #: The unit.
    unit: str


class UnitToAssign(_UnitToAssignRequired, total=False):
    """A unit of a batch."""

    #: What targeting reads.
    attributes: Mapping[str, Any]
    #: What was measured before the exposure, by metric.
    covariates: Mapping[str, float]


class _ReceiptVerificationRequired(TypedDict):
    #: Whether the service issued exactly this receipt.
    valid: bool
    #: Why it is not valid: malformed, unsupported_version or wrong_signature.
    reason: str


class ReceiptVerification(_ReceiptVerificationRequired, total=False):
    """The result of a verification."""

    #: The receipt, if it is valid.
    receipt: ExposureReceipt


class _ExperimentScoreRequired(TypedDict):
    #: The caller's id.
    score_id: str
    #: The experiment.
    experiment_id: str
    #: The metric.
    metric: str
    #: The variant of the unit.
    variant: str
    #: The phase of the unit.
    phase: int
    #: The value.
    value: float
    #: The denominator of a ratio; 1 otherwise.
    denominator: float
    #: Whether it counts: pending (when the unit's window ends), early (happened before the exposure), late (happened or arrived after the window) or ended (arrived after the end of the experiment). Only pending ones count.
    state: str


class ExperimentScore(_ExperimentScoreRequired, total=False):
    """An outcome of a unit."""

    #: When it happened.
    observed_at: str
    #: When it was recorded.
    recorded_at: str


class RecordScoreBatchResponse(TypedDict):
    """The results of a batch."""

    #: The results, in the order of the request.
    results: List[ScoreResult]
    #: How many were refused.
    refused: int


class _ScoreResultRequired(TypedDict):
    #: The error code, such as SCORE_ID_REUSED; empty for a recorded score.
    error_code: str
    #: What was wrong.
    error: str


class ScoreResult(_ScoreResultRequired, total=False):
    """The result of one score of a batch: the score, or why it was refused."""

    #: The recorded score.
    score: ExperimentScore


class ScoreToRecord(TypedDict, total=False):
    """A score of a batch."""

    #: The caller's id of the score, unique in the experiment.
    score_id: str
    #: The token of the unit's exposure receipt. Send it or the unit.
    receipt: str
    #: The unit.
    unit: str
    #: The metric.
    metric: str
    #: The value; 1 by default. 0 or between 1e-30 and 1e30 in magnitude.
    value: float
    #: ratio: the denominator; 1 by default. 0 or between 1e-30 and 1e30 in magnitude.
    denominator: float
    #: When it happened; now by default.
    observed_at: str | datetime


class _ExperimentResultsRequired(TypedDict):
    #: The experiment.
    experiment_id: str
    #: Its status.
    status: str
    #: insufficient, inconclusive, winner, loser or invalid.
    verdict: str
    #: The variant to choose, if the verdict is winner.
    winner: str
    #: What it means and what to do.
    sentence: str
    #: The variants.
    variants: List[VariantResults]
    #: The number of exposed units.
    units: int
    #: The number of units whose window has ended; only they are in the results.
    mature_units: int
    #: Whether the experiment has ended and the results no longer change.
    frozen: bool
    #: The probability of a false winner.
    alpha: float
    #: The number of units that the analysis is tuned for.
    planned_units: int


class ExperimentResults(_ExperimentResultsRequired, total=False):
    """The results of an experiment."""

    #: Whether the variants have the sizes that their weights predict.
    sample_ratio: SampleRatioResults
    #: When they were computed.
    computed_at: str


class VariantResults(TypedDict):
    """The results of a variant."""

    #: The variant.
    variant: str
    #: Whether it is the one that the others are compared with.
    control: bool
    #: The number of exposed units.
    units: int
    #: The number of units whose window has ended.
    mature_units: int
    #: insufficient, inconclusive, winner, loser or invalid; empty for control.
    verdict: str
    #: The metrics.
    metrics: List[MetricResults]


class _MetricResultsRequired(TypedDict):
    #: The metric.
    metric: str
    #: The number of units with a value.
    n: int
    #: The number of units that were left out because they have no score.
    missing: int


class MetricResults(_MetricResultsRequired, total=False):
    """The results of a metric of a variant."""

    #: The mean; absent without units.
    mean: float
    #: The variance of the units' values.
    variance: float
    #: The always-valid interval of the mean.
    interval: ResultInterval
    #: The comparison with control; absent for control itself.
    comparison: MetricComparison


class ResultInterval(TypedDict):
    """An interval."""

    #: The lower end.
    lower: float
    #: The upper end.
    upper: float


class _MetricComparisonRequired(TypedDict):
    #: success or guardrail.
    role: str
    #: insufficient, inconclusive, better or worse.
    state: str
    #: The number of units that were compared.
    n: int
    #: The probability of an error of this interval: alpha, divided among the success metrics and variants.
    alpha: float
    #: What restricts the result: too_few_units, no_variance, control_may_be_zero, covariate_used, unscored_left_out or phase_left_out.
    notes: List[str]


class MetricComparison(_MetricComparisonRequired, total=False):
    """The comparison of a metric with control."""

    #: guardrail: whether the interval excludes a harm beyond the margin.
    within_margin: bool
    #: The difference from control; absent for a rare event.
    difference: float
    #: Its always-valid interval.
    interval: ResultInterval
    #: The relative difference: 0.1 is 10 percent more than control.
    lift: float
    #: Its always-valid interval.
    lift_interval: ResultInterval
    #: The always-valid p-value.
    p_value: float
    #: How many more units, events and units without events the smallest variant needs.
    needs: ComparisonNeeds


class ComparisonNeeds(TypedDict):
    """What a comparison lacks."""

    #: Units.
    units: int
    #: Units with an event.
    events: int
    #: Units without one.
    non_events: int


class SampleRatioResults(TypedDict):
    """The check of the sizes of the variants."""

    #: The always-valid p-value. Below 0.001 the results are invalid.
    p_value: float
    #: Whether the results are invalid because of it.
    mismatch: bool
    #: The variants.
    arms: List[SampleRatioArm]


class SampleRatioArm(TypedDict):
    """The size of a variant."""

    #: The variant.
    variant: str
    #: The number of exposed units.
    units: int
    #: The number that the weights predict.
    expected: float


class ExperimentHistory(TypedDict):
    """The results over time, oldest first, with at most 500 points."""

    #: The points.
    points: List[HistoryPoint]


class _HistoryPointRequired(TypedDict):
    #: The verdict.
    verdict: str
    #: The number of exposed units.
    units: int
    #: The number of units in the results.
    mature_units: int
    #: The comparisons with control.
    comparisons: List[HistoryComparison]


class HistoryPoint(_HistoryPointRequired, total=False):
    """The results at one time."""

    #: When.
    at: str


class _HistoryComparisonRequired(TypedDict):
    #: The variant.
    variant: str
    #: The metric.
    metric: str


class HistoryComparison(_HistoryComparisonRequired, total=False):
    """A comparison with control at one time. A rare event has a lift instead of a difference."""

    #: The difference from control.
    difference: float
    #: Its interval.
    interval: ResultInterval
    #: The relative difference.
    lift: float
    #: Its interval.
    lift_interval: ResultInterval
    #: The p-value.
    p_value: float


class ExperimentExport(TypedDict):
    """Results as text."""

    #: A name for the file.
    file_name: str
    #: text/csv or application/json.
    content_type: str
    #: The text.
    content: str
