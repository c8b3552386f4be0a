# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _OperationalHealthReportRequired(TypedDict):
    #: The SHA-256 of the ruleset's digest, the scope, the window and all numbers of the report.
    id: str
    #: The version of this format.
    version: str
    #: healthy, degraded, unhealthy or unknown. It is unknown if data is missing, stale, unavailable, skewed or unclassified.
    verdict: str
    #: high if every signal was evaluated, medium if a sample was too small, none if the verdict is unknown.
    confidence: str
    #: The codes of all findings, in the order of the ruleset.
    reason_codes: List[str]
    #: The signals, in the order of the ruleset.
    signals: List[OperationalHealthSignal]
    #: How current the sources of the signals are.
    sources: List[OperationalHealthSource]
    #: The state of what the service depends on.
    dependencies: List[OperationalHealthDependency]
    #: What to do, the most important first.
    next_steps: List[OperationalHealthNextStep]


class OperationalHealthReport(_OperationalHealthReportRequired, total=False):
    """The health of an environment at one time. It contains numbers and fixed texts only."""

    #: What the report is about.
    scope: OperationalHealthScope
    #: The time that the report covers.
    window: OperationalHealthWindow
    #: The rules of the verdict.
    ruleset: OperationalHealthRuleset
    #: When the report was computed, by the clock of the database.
    generated_at: str


class OperationalHealthScope(TypedDict):
    """The scope of health reports: an environment of a tenant."""

    #: The tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The key of the environment.
    environment: str


class _OperationalHealthWindowRequired(TypedDict):
    #: The length in seconds.
    period_s: int


class OperationalHealthWindow(_OperationalHealthWindowRequired, total=False):
    """The time that a report covers. The end is aligned to 15 seconds."""

    #: The first moment.
    start: str
    #: The first moment after the window.
    end: str


class OperationalHealthRuleset(TypedDict):
    """The rules of a verdict. Rules of one version never change."""

    #: The version.
    version: str
    #: The SHA-256 of the rules.
    digest: str


class _OperationalHealthSignalRequired(TypedDict):
    #: Its name, for example "ready_queue_depth".
    name: str
    #: The display name.
    title: str
    #: healthy, degraded, unhealthy, unknown, or not_evaluated if the sample is too small.
    level: str
    #: The code of the finding; empty if there is none.
    reason_code: str
    #: The unit of the value and its thresholds: count, percent, seconds or milliseconds.
    unit: str
    #: The numbers behind the value.
    evidence: List[OperationalHealthEvidence]


class OperationalHealthSignal(_OperationalHealthSignalRequired, total=False):
    """One signal of a report."""

    #: The value; absent if it is not known.
    value: int
    #: The signal is degraded from this value.
    degraded_at: int
    #: The signal is unhealthy from this value.
    unhealthy_at: int
    #: The signal is unknown above this value.
    unknown_above: int


class OperationalHealthEvidence(TypedDict):
    """A number behind the value of a signal."""

    #: Its name, for example "failed_runs".
    name: str
    #: The number.
    value: int


class _OperationalHealthSourceRequired(TypedDict):
    #: Its name, for example "workflow_runs".
    name: str
    #: current, stale, skewed or missing.
    freshness: str


class OperationalHealthSource(_OperationalHealthSourceRequired, total=False):
    """How current a source of signals is."""

    #: Seconds since its last heartbeat, rounded up; absent if there is none.
    age_s: int
    #: The difference between the clocks of the source and of the database, in milliseconds; absent if there is no heartbeat.
    clock_skew_ms: int


class _OperationalHealthDependencyRequired(TypedDict):
    #: Its name, for example "database".
    name: str
    #: available, unavailable, not_configured, unclassified, stale or missing.
    state: str


class OperationalHealthDependency(_OperationalHealthDependencyRequired, total=False):
    """The state of something that the service depends on."""

    #: Seconds since the last snapshot, rounded up; absent if there is none.
    age_s: int


class OperationalHealthNextStep(TypedDict):
    """What to do about a finding."""

    #: The code of the finding.
    reason_code: str
    #: What to do.
    action: str
    #: The path of the runbook in the documentation.
    runbook: str
