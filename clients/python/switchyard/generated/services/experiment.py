# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
    from ..types.experiment import AssignExperimentBatchResponse, DeleteExperimentResponse, Experiment, ExperimentAssignment, ExperimentExport, ExperimentHistory, ExperimentLayerChange, ExperimentLayerInput, ExperimentMetricInput, ExperimentMetrics, ExperimentPlan, ExperimentResults, ExperimentScore, ExperimentVariantInput, ExperimentVariants, ReceiptVerification, RecordScoreBatchResponse, ScoreToRecord, UnitToAssign

CREATE = Operation("POST", "/api/experiments", body="*", keyed=True)
VALIDATE = Operation("POST", "/api/experiments:validate", body="*")
GET = Operation("GET", "/api/experiments/{experiment_id}")
LIST = Operation("GET", "/api/experiments", result="cursor")
UPDATE = Operation("PATCH", "/api/experiments/{experiment_id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/experiments/{experiment_id}", keyed=True)
START = Operation("POST", "/api/experiments/{experiment_id}/start", body="*", keyed=True)
PAUSE = Operation("POST", "/api/experiments/{experiment_id}/pause", body="*", keyed=True)
COMPLETE = Operation("POST", "/api/experiments/{experiment_id}/complete", body="*", keyed=True)
STOP = Operation("POST", "/api/experiments/{experiment_id}/stop", body="*", keyed=True)
ASSIGN = Operation("POST", "/api/experiments/{experiment_id}/assign", body="*", keyed=True)
ASSIGN_BATCH = Operation("POST", "/api/experiments/{experiment_id}/assign:batch", body="*", keyed=True)
VERIFY_EXPOSURE_RECEIPT = Operation("POST", "/api/experiments/receipts:verify", body="*")
RECORD_SCORE = Operation("POST", "/api/experiments/{experiment_id}/scores", body="*", keyed=True)
RECORD_SCORE_BATCH = Operation("POST", "/api/experiments/{experiment_id}/scores:batch", body="*", keyed=True)
GET_RESULTS = Operation("GET", "/api/experiments/{experiment_id}/results")
GET_HISTORY = Operation("GET", "/api/experiments/{experiment_id}/results/history")
EXPORT_RESULTS = Operation("GET", "/api/experiments/{experiment_id}/results:export")


class ExperimentService(Service):
    """Experiments: assigns variants to units, records outcomes, and says which variant is better. An experiment with one variant is a feature flag."""

    def create(
        self,
        *,
        key: str,
        name: str | None = None,
        description: str | None = None,
        environment_id: str | None = None,
        unit: str | None = None,
        variants: Sequence[ExperimentVariantInput],
        control: str | None = None,
        allocation_pct: float | None = None,
        targeting: str | None = None,
        metrics: Sequence[ExperimentMetricInput] | None = None,
        score_window_s: int | None = None,
        layer: ExperimentLayerInput | None = None,
        planned_units: int | None = None,
        alpha: float | None = None,
        expected_units_per_day: float | None = None,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Creates an experiment as a draft. A draft assigns nothing until it is started.

        key: The key, unique in its environment.
        name: The display name; the key by default.
        description: What it is about.
        environment_id: The id or the key of the environment; production by default.
        unit: What is assigned, for people; user by default.
        variants: The variants. One variant makes a feature flag.
        control: The variant that the others are compared with; the first by default.
        allocation_pct: The percentage of units that enter the experiment; 100 by default.
        targeting: Which units may enter: a CEL condition over unit and attributes, such as attributes.country == "CH".
        metrics: The metrics. A feature flag needs none.
        score_window_s: How long after the first exposure the scores of a unit count, in seconds; 30 days by default.
        layer: The share of an exclusion layer.
        planned_units: The number of units that the analysis is tuned for: its intervals are narrowest there; 10000 by default.
        alpha: The probability of a false winner; 0.05 by default.
        expected_units_per_day: How many units arrive per day, for the estimate of the duration.
        """
        return self._call(CREATE, locals())

    def validate(
        self,
        *,
        key: str,
        name: str | None = None,
        description: str | None = None,
        environment_id: str | None = None,
        unit: str | None = None,
        variants: Sequence[ExperimentVariantInput],
        control: str | None = None,
        allocation_pct: float | None = None,
        targeting: str | None = None,
        metrics: Sequence[ExperimentMetricInput] | None = None,
        score_window_s: int | None = None,
        layer: ExperimentLayerInput | None = None,
        planned_units: int | None = None,
        alpha: float | None = None,
        expected_units_per_day: float | None = None,
        call: CallOptions | None = None,
    ) -> ExperimentPlan:
        """
        Checks a draft without storing it, and estimates the units and the days that it needs.

        key: The key, unique in its environment.
        name: The display name; the key by default.
        description: What it is about.
        environment_id: The id or the key of the environment; production by default.
        unit: What is assigned, for people; user by default.
        variants: The variants. One variant makes a feature flag.
        control: The variant that the others are compared with; the first by default.
        allocation_pct: The percentage of units that enter the experiment; 100 by default.
        targeting: Which units may enter: a CEL condition over unit and attributes, such as attributes.country == "CH".
        metrics: The metrics. A feature flag needs none.
        score_window_s: How long after the first exposure the scores of a unit count, in seconds; 30 days by default.
        layer: The share of an exclusion layer.
        planned_units: The number of units that the analysis is tuned for: its intervals are narrowest there; 10000 by default.
        alpha: The probability of a false winner; 0.05 by default.
        expected_units_per_day: How many units arrive per day, for the estimate of the duration.
        """
        return self._call(VALIDATE, locals())

    def get(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Returns one experiment.

        experiment_id: The experiment's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: Literal["", "draft", "running", "paused", "completed", "stopped"] | None = None,
        environment_id: str | None = None,
        key: str | None = None,
        layer: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Experiment]:
        """
        Lists the experiments of the caller's tenant, oldest first.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        status: Only those with this status.
        environment_id: Only those of this environment: its id or its key.
        key: Only the one with this key.
        layer: Only those in this exclusion layer.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        experiment_id: str,
        name: str | None = None,
        description: str | None = None,
        unit: str | None = None,
        variant_set: ExperimentVariants | None = None,
        control: str | None = None,
        allocation_pct: float | None = None,
        targeting: str | None = None,
        metric_set: ExperimentMetrics | None = None,
        score_window_s: int | None = None,
        layer: ExperimentLayerChange | None = None,
        planned_units: int | None = None,
        alpha: float | None = None,
        expected_units_per_day: float | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Changes an experiment. A draft can be changed in every field. While it is running or paused, only name, description, allocation and weights can be changed; new weights and a new allocation begin a new phase, for new units only.

        experiment_id: The experiment's id.
        name: The display name.
        description: What it is about.
        unit: What is assigned, for people.
        variant_set: Replaces the variants. After the start only weights, descriptions and values can change.
        control: The variant that the others are compared with.
        allocation_pct: The percentage of units that enter the experiment.
        targeting: Which units may enter.
        metric_set: Replaces the metrics.
        score_window_s: How long after the first exposure the scores of a unit count, in seconds.
        layer: The share of an exclusion layer. An empty key removes it.
        planned_units: The number of units that the analysis is tuned for.
        alpha: The probability of a false winner.
        expected_units_per_day: How many units arrive per day.
        record_version: The expected version of the record; unconditional when absent.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> DeleteExperimentResponse:
        """
        Deletes a draft.

        experiment_id: The experiment's id.
        """
        return self._call(DELETE, locals())

    def start(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Starts a draft, or continues a paused experiment.

        experiment_id: The experiment's id.
        """
        return self._call(START, locals())

    def pause(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Pauses a running experiment: no new unit enters it. Units that are in it keep their variant, and scores are accepted.

        experiment_id: The experiment's id.
        """
        return self._call(PAUSE, locals())

    def complete(
        self,
        *,
        experiment_id: str,
        variant: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Completes an experiment with a decision. Its results are frozen; later scores are kept and not counted.

        experiment_id: The experiment's id.
        variant: The variant that every unit gets from now on; none when empty.
        reason: Why.
        """
        return self._call(COMPLETE, locals())

    def stop(
        self,
        *,
        experiment_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Stops an experiment without a decision. Its results are frozen; later scores are kept and not counted.

        experiment_id: The experiment's id.
        reason: Why.
        """
        return self._call(STOP, locals())

    def assign(
        self,
        *,
        experiment_id: str,
        unit: str,
        attributes: Mapping[str, Any] | None = None,
        covariates: Mapping[str, float] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> ExperimentAssignment:
        """
        Returns the variant of a unit and the signed receipt of its exposure. A unit keeps the variant of its first exposure.

        experiment_id: The experiment's id, or its key in environment_id.
        unit: The unit, such as the id of a user.
        attributes: What targeting reads.
        covariates: What was measured before the exposure, by metric; it reduces the variance of the results. Only the first exposure stores it.
        environment_id: The id or the key of the experiment's environment, in which its key is looked up; production by default.
        """
        return self._call(ASSIGN, locals())

    def assign_batch(
        self,
        *,
        experiment_id: str,
        units: Sequence[UnitToAssign],
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AssignExperimentBatchResponse:
        """
        Returns the variants of up to 1000 units.

        experiment_id: The experiment's id, or its key in environment_id.
        units: The units.
        environment_id: The id or the key of the experiment's environment, in which its key is looked up; production by default.
        """
        return self._call(ASSIGN_BATCH, locals())

    def verify_exposure_receipt(
        self,
        *,
        token: str,
        call: CallOptions | None = None,
    ) -> ReceiptVerification:
        """
        Verifies the signature of an exposure receipt. Needs no credentials.

        token: The token of the receipt.
        """
        return self._call(VERIFY_EXPOSURE_RECEIPT, locals())

    def record_score(
        self,
        *,
        experiment_id: str,
        score_id: str,
        receipt: str | None = None,
        unit: str | None = None,
        metric: str,
        value: float | None = None,
        denominator: float | None = None,
        observed_at: str | datetime | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> ExperimentScore:
        """
        Records an outcome of a unit. A repeated score_id with the same content changes nothing; with another content it is refused.

        experiment_id: The experiment's id, or its key in environment_id.
        score_id: The caller's id of the score, unique in the experiment.
        receipt: The token of the unit's exposure receipt. Send it or the unit.
        unit: The unit.
        metric: The metric.
        value: The value; 1 by default. 0 or between 1e-30 and 1e30 in magnitude.
        denominator: ratio: the denominator; 1 by default. 0 or between 1e-30 and 1e30 in magnitude.
        observed_at: When it happened; now by default.
        environment_id: The id or the key of the experiment's environment, in which its key is looked up; production by default.
        """
        return self._call(RECORD_SCORE, locals())

    def record_score_batch(
        self,
        *,
        experiment_id: str,
        scores: Sequence[ScoreToRecord],
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> RecordScoreBatchResponse:
        """
        Records up to 1000 outcomes, each with its own result.

        experiment_id: The experiment's id, or its key in environment_id.
        scores: The scores.
        environment_id: The id or the key of the experiment's environment, in which its key is looked up; production by default.
        """
        return self._call(RECORD_SCORE_BATCH, locals())

    def get_results(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> ExperimentResults:
        """
        Returns the results: per variant and metric the mean, the difference from control, an always-valid interval and p-value, the sample-ratio check, the verdict, and a sentence that says what to do.

        experiment_id: The experiment's id.
        """
        return self._call(GET_RESULTS, locals())

    def get_history(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> ExperimentHistory:
        """
        Returns the results over time, for a chart.

        experiment_id: The experiment's id.
        """
        return self._call(GET_HISTORY, locals())

    def export_results(
        self,
        *,
        experiment_id: str,
        format: Literal["", "csv", "json"] | None = None,
        call: CallOptions | None = None,
    ) -> ExperimentExport:
        """
        Exports the results as CSV or JSON text.

        experiment_id: The experiment's id.
        format: csv or json; csv by default.
        """
        return self._call(EXPORT_RESULTS, locals())


class AsyncExperimentService(AsyncService):
    """Experiments: assigns variants to units, records outcomes, and says which variant is better. An experiment with one variant is a feature flag."""

    async def create(
        self,
        *,
        key: str,
        name: str | None = None,
        description: str | None = None,
        environment_id: str | None = None,
        unit: str | None = None,
        variants: Sequence[ExperimentVariantInput],
        control: str | None = None,
        allocation_pct: float | None = None,
        targeting: str | None = None,
        metrics: Sequence[ExperimentMetricInput] | None = None,
        score_window_s: int | None = None,
        layer: ExperimentLayerInput | None = None,
        planned_units: int | None = None,
        alpha: float | None = None,
        expected_units_per_day: float | None = None,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Creates an experiment as a draft. A draft assigns nothing until it is started.

        key: The key, unique in its environment.
        name: The display name; the key by default.
        description: What it is about.
        environment_id: The id or the key of the environment; production by default.
        unit: What is assigned, for people; user by default.
        variants: The variants. One variant makes a feature flag.
        control: The variant that the others are compared with; the first by default.
        allocation_pct: The percentage of units that enter the experiment; 100 by default.
        targeting: Which units may enter: a CEL condition over unit and attributes, such as attributes.country == "CH".
        metrics: The metrics. A feature flag needs none.
        score_window_s: How long after the first exposure the scores of a unit count, in seconds; 30 days by default.
        layer: The share of an exclusion layer.
        planned_units: The number of units that the analysis is tuned for: its intervals are narrowest there; 10000 by default.
        alpha: The probability of a false winner; 0.05 by default.
        expected_units_per_day: How many units arrive per day, for the estimate of the duration.
        """
        return await self._call(CREATE, locals())

    async def validate(
        self,
        *,
        key: str,
        name: str | None = None,
        description: str | None = None,
        environment_id: str | None = None,
        unit: str | None = None,
        variants: Sequence[ExperimentVariantInput],
        control: str | None = None,
        allocation_pct: float | None = None,
        targeting: str | None = None,
        metrics: Sequence[ExperimentMetricInput] | None = None,
        score_window_s: int | None = None,
        layer: ExperimentLayerInput | None = None,
        planned_units: int | None = None,
        alpha: float | None = None,
        expected_units_per_day: float | None = None,
        call: CallOptions | None = None,
    ) -> ExperimentPlan:
        """
        Checks a draft without storing it, and estimates the units and the days that it needs.

        key: The key, unique in its environment.
        name: The display name; the key by default.
        description: What it is about.
        environment_id: The id or the key of the environment; production by default.
        unit: What is assigned, for people; user by default.
        variants: The variants. One variant makes a feature flag.
        control: The variant that the others are compared with; the first by default.
        allocation_pct: The percentage of units that enter the experiment; 100 by default.
        targeting: Which units may enter: a CEL condition over unit and attributes, such as attributes.country == "CH".
        metrics: The metrics. A feature flag needs none.
        score_window_s: How long after the first exposure the scores of a unit count, in seconds; 30 days by default.
        layer: The share of an exclusion layer.
        planned_units: The number of units that the analysis is tuned for: its intervals are narrowest there; 10000 by default.
        alpha: The probability of a false winner; 0.05 by default.
        expected_units_per_day: How many units arrive per day, for the estimate of the duration.
        """
        return await self._call(VALIDATE, locals())

    async def get(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Returns one experiment.

        experiment_id: The experiment's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: Literal["", "draft", "running", "paused", "completed", "stopped"] | None = None,
        environment_id: str | None = None,
        key: str | None = None,
        layer: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Experiment]:
        """
        Lists the experiments of the caller's tenant, oldest first.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        status: Only those with this status.
        environment_id: Only those of this environment: its id or its key.
        key: Only the one with this key.
        layer: Only those in this exclusion layer.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        experiment_id: str,
        name: str | None = None,
        description: str | None = None,
        unit: str | None = None,
        variant_set: ExperimentVariants | None = None,
        control: str | None = None,
        allocation_pct: float | None = None,
        targeting: str | None = None,
        metric_set: ExperimentMetrics | None = None,
        score_window_s: int | None = None,
        layer: ExperimentLayerChange | None = None,
        planned_units: int | None = None,
        alpha: float | None = None,
        expected_units_per_day: float | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Changes an experiment. A draft can be changed in every field. While it is running or paused, only name, description, allocation and weights can be changed; new weights and a new allocation begin a new phase, for new units only.

        experiment_id: The experiment's id.
        name: The display name.
        description: What it is about.
        unit: What is assigned, for people.
        variant_set: Replaces the variants. After the start only weights, descriptions and values can change.
        control: The variant that the others are compared with.
        allocation_pct: The percentage of units that enter the experiment.
        targeting: Which units may enter.
        metric_set: Replaces the metrics.
        score_window_s: How long after the first exposure the scores of a unit count, in seconds.
        layer: The share of an exclusion layer. An empty key removes it.
        planned_units: The number of units that the analysis is tuned for.
        alpha: The probability of a false winner.
        expected_units_per_day: How many units arrive per day.
        record_version: The expected version of the record; unconditional when absent.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> DeleteExperimentResponse:
        """
        Deletes a draft.

        experiment_id: The experiment's id.
        """
        return await self._call(DELETE, locals())

    async def start(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Starts a draft, or continues a paused experiment.

        experiment_id: The experiment's id.
        """
        return await self._call(START, locals())

    async def pause(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Pauses a running experiment: no new unit enters it. Units that are in it keep their variant, and scores are accepted.

        experiment_id: The experiment's id.
        """
        return await self._call(PAUSE, locals())

    async def complete(
        self,
        *,
        experiment_id: str,
        variant: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Completes an experiment with a decision. Its results are frozen; later scores are kept and not counted.

        experiment_id: The experiment's id.
        variant: The variant that every unit gets from now on; none when empty.
        reason: Why.
        """
        return await self._call(COMPLETE, locals())

    async def stop(
        self,
        *,
        experiment_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> Experiment:
        """
        Stops an experiment without a decision. Its results are frozen; later scores are kept and not counted.

        experiment_id: The experiment's id.
        reason: Why.
        """
        return await self._call(STOP, locals())

    async def assign(
        self,
        *,
        experiment_id: str,
        unit: str,
        attributes: Mapping[str, Any] | None = None,
        covariates: Mapping[str, float] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> ExperimentAssignment:
        """
        Returns the variant of a unit and the signed receipt of its exposure. A unit keeps the variant of its first exposure.

        experiment_id: The experiment's id, or its key in environment_id.
        unit: The unit, such as the id of a user.
        attributes: What targeting reads.
        covariates: What was measured before the exposure, by metric; it reduces the variance of the results. Only the first exposure stores it.
        environment_id: The id or the key of the experiment's environment, in which its key is looked up; production by default.
        """
        return await self._call(ASSIGN, locals())

    async def assign_batch(
        self,
        *,
        experiment_id: str,
        units: Sequence[UnitToAssign],
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AssignExperimentBatchResponse:
        """
        Returns the variants of up to 1000 units.

        experiment_id: The experiment's id, or its key in environment_id.
        units: The units.
        environment_id: The id or the key of the experiment's environment, in which its key is looked up; production by default.
        """
        return await self._call(ASSIGN_BATCH, locals())

    async def verify_exposure_receipt(
        self,
        *,
        token: str,
        call: CallOptions | None = None,
    ) -> ReceiptVerification:
        """
        Verifies the signature of an exposure receipt. Needs no credentials.

        token: The token of the receipt.
        """
        return await self._call(VERIFY_EXPOSURE_RECEIPT, locals())

    async def record_score(
        self,
        *,
        experiment_id: str,
        score_id: str,
        receipt: str | None = None,
        unit: str | None = None,
        metric: str,
        value: float | None = None,
        denominator: float | None = None,
        observed_at: str | datetime | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> ExperimentScore:
        """
        Records an outcome of a unit. A repeated score_id with the same content changes nothing; with another content it is refused.

        experiment_id: The experiment's id, or its key in environment_id.
        score_id: The caller's id of the score, unique in the experiment.
        receipt: The token of the unit's exposure receipt. Send it or the unit.
        unit: The unit.
        metric: The metric.
        value: The value; 1 by default. 0 or between 1e-30 and 1e30 in magnitude.
        denominator: ratio: the denominator; 1 by default. 0 or between 1e-30 and 1e30 in magnitude.
        observed_at: When it happened; now by default.
        environment_id: The id or the key of the experiment's environment, in which its key is looked up; production by default.
        """
        return await self._call(RECORD_SCORE, locals())

    async def record_score_batch(
        self,
        *,
        experiment_id: str,
        scores: Sequence[ScoreToRecord],
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> RecordScoreBatchResponse:
        """
        Records up to 1000 outcomes, each with its own result.

        experiment_id: The experiment's id, or its key in environment_id.
        scores: The scores.
        environment_id: The id or the key of the experiment's environment, in which its key is looked up; production by default.
        """
        return await self._call(RECORD_SCORE_BATCH, locals())

    async def get_results(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> ExperimentResults:
        """
        Returns the results: per variant and metric the mean, the difference from control, an always-valid interval and p-value, the sample-ratio check, the verdict, and a sentence that says what to do.

        experiment_id: The experiment's id.
        """
        return await self._call(GET_RESULTS, locals())

    async def get_history(
        self,
        *,
        experiment_id: str,
        call: CallOptions | None = None,
    ) -> ExperimentHistory:
        """
        Returns the results over time, for a chart.

        experiment_id: The experiment's id.
        """
        return await self._call(GET_HISTORY, locals())

    async def export_results(
        self,
        *,
        experiment_id: str,
        format: Literal["", "csv", "json"] | None = None,
        call: CallOptions | None = None,
    ) -> ExperimentExport:
        """
        Exports the results as CSV or JSON text.

        experiment_id: The experiment's id.
        format: csv or json; csv by default.
        """
        return await self._call(EXPORT_RESULTS, locals())
