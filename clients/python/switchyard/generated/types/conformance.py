# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class ConformanceSuite(TypedDict):
    """A suite of cases about one surface."""

    #: The stable id: runtime, bridge, worker-protocol, mcp, connector-lifecycle or admission.
    id: str
    #: The name.
    name: str
    #: What the suite is about.
    description: str
    #: The version, which changes with its cases.
    version: int
    #: The cases.
    cases: List[ConformanceCase]


class ConformanceCase(TypedDict):
    """A case: one guarantee and how it is checked."""

    #: The stable id, such as worker.lease-exclusive. Its meaning never changes.
    id: str
    #: The guarantee.
    guarantee: str
    #: The capabilities that the case needs, as in GET /api/capabilities. The case is not applicable while one of them is off.
    capabilities: List[str]
    #: Whether a dry run includes the case.
    dry_run: bool


class RunConformanceSuiteResponse(TypedDict, total=False):
    """The run that was requested."""

    #: The run.
    run: ConformanceRun
    #: The report, if the run has ended with one.
    report: ConformanceReport


class _ConformanceRunRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment that the report is about.
    environment_id: str
    #: The suite.
    suite_id: str
    #: sandbox or dry_run.
    mode: str
    #: queued, running, completed (it has a report), cancelled, deadline_exceeded or failed.
    state: str
    #: The number of cases that have ended.
    cases_done: int
    #: The number of cases.
    cases_total: int
    #: The report of a completed run.
    report_id: str
    #: The verdict of the report: passed, failed or incomplete.
    verdict: str
    #: Who requested it.
    requested_by: str
    #: The version of the record.
    record_version: int


class ConformanceRun(_ConformanceRunRequired, total=False):
    """A run of a suite."""

    #: When the run ends at the latest.
    deadline_at: str
    #: When it began.
    started_at: str
    #: When it ended.
    ended_at: str
    #: When it was requested.
    created_at: str
    #: When it last changed.
    updated_at: str


class _ConformanceReportRequired(TypedDict):
    #: The SHA-256 of the content in canonical JSON (RFC 8785), in hexadecimal digits.
    id: str
    #: The environment.
    environment_id: str
    #: The suite.
    suite_id: str
    #: The version of the suite.
    suite_version: int
    #: sandbox or dry_run.
    mode: str
    #: passed, failed (a case failed) or incomplete (none failed, but some could not be decided).
    verdict: str
    #: The results, in the order of the case ids. Lists do not contain them.
    cases: List[ConformanceCaseResult]
    #: How many runs produced it. This and the following fields are not part of the content.
    produced_count: int
    #: The run that produced it last.
    last_run_id: str


class ConformanceReport(_ConformanceReportRequired, total=False):
    """A report: what a suite found about a build in an environment. The same build and state give the same report."""

    #: The build.
    build: ConformanceBuild
    #: The number of cases by status.
    coverage: ConformanceCoverage
    #: When it was first produced.
    first_produced_at: str
    #: When it was last produced.
    last_produced_at: str


class ConformanceBuild(TypedDict):
    """The build that was examined."""

    #: The version of the service.
    version: str
    #: The SHA-256 of its API definitions.
    definitions_digest: str


class ConformanceCoverage(TypedDict):
    """The number of cases by status."""

    #: All cases of the suite.
    total: int
    #: Cases that passed.
    passed: int
    #: Cases that failed.
    failed: int
    #: Cases that could not be decided.
    blocked: int
    #: Cases whose capability is off.
    not_applicable: int
    #: The share of applicable cases that were decided, from 0 to 1.
    decided_share: float


class ConformanceCaseResult(TypedDict):
    """The result of a case."""

    #: The id of the case.
    case_id: str
    #: passed, failed, blocked (it could not be decided, or a setting turns its guarantee off) or not_applicable (a capability that it needs is off).
    status: str
    #: Why it did not pass: check_failed, unexpected_error, timed_out, needs_sandbox, refused (by a limit), capability_off or setting_off; empty if it passed.
    reason_code: str
    #: The error code, setting or capability that the reason is about; empty if there is none.
    reason_subject: str
    #: What was checked, in order.
    checks: List[ConformanceCheck]


class ConformanceCheck(TypedDict):
    """What a case checked."""

    #: What was checked.
    name: str
    #: Whether it is as expected.
    passed: bool
    #: The expected value.
    expected: str
    #: The observed value; "other" if it is neither an error code, a number nor a value that the check names.
    observed: str


class ConformanceExplanation(TypedDict):
    """The explanation of a report."""

    #: The report.
    report_id: str
    #: The suite.
    suite_id: str
    #: passed, failed or incomplete.
    verdict: str
    #: The verdict in a sentence.
    summary: str
    #: The cases, those that did not pass first.
    cases: List[ConformanceCaseExplanation]
    #: The report of the suite that was produced before this one, in the same mode; empty if there is none.
    previous_report_id: str
    #: The cases whose status changed since then.
    changes: List[ConformanceChange]


class ConformanceCaseExplanation(TypedDict):
    """What a case's result means."""

    #: The id of the case.
    case_id: str
    #: passed, failed, blocked or not_applicable.
    status: str
    #: The guarantee.
    guarantee: str
    #: Why the status is what it is.
    reason: str
    #: What to do about it; empty if nothing has to be done.
    next_step: str
    #: The checks that failed.
    failed_checks: List[ConformanceCheck]


class ConformanceChange(TypedDict):
    """A case whose status differs from the previous report."""

    #: The id of the case.
    case_id: str
    #: The status in the previous report; empty if the case is new.
    before: str
    #: The status in this report; empty if the case no longer exists.
    after: str
