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
    from ..types.conformance import ConformanceExplanation, ConformanceReport, ConformanceRun, ConformanceSuite, RunConformanceSuiteResponse

LIST_SUITES = Operation("GET", "/api/runtime-conformance/suites", result="cursor")
GET_SUITE = Operation("GET", "/api/runtime-conformance/suites/{suite_id}")
RUN_SUITE = Operation("POST", "/api/runtime-conformance/suites/{suite_id}:run", body="*", keyed=True)
GET_RUN = Operation("GET", "/api/runtime-conformance/runs/{environment_id}/{run_id}")
LIST_RUNS = Operation("GET", "/api/runtime-conformance/runs", result="cursor")
CANCEL_RUN = Operation("POST", "/api/runtime-conformance/runs/{environment_id}/{run_id}:cancel", body="*", keyed=True)
LIST_REPORTS = Operation("GET", "/api/runtime-conformance/reports", result="cursor")
GET_REPORT = Operation("GET", "/api/runtime-conformance/reports/{environment_id}/{report_id}")
EXPLAIN_REPORT = Operation("POST", "/api/runtime-conformance/reports/{environment_id}:explain", body="*")


class ConformanceService(Service):
    """Runtime conformance: checks that this instance keeps its guarantees, by calling it as its callers do. Runs work in a scratch tenant of their own and never touch records of the caller's tenant."""

    def list_suites(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConformanceSuite]:
        """
        Lists the suites.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_SUITES, locals())

    def get_suite(
        self,
        *,
        suite_id: str,
        call: CallOptions | None = None,
    ) -> ConformanceSuite:
        """
        Returns one suite with its cases.

        suite_id: The suite.
        """
        return self._call(GET_SUITE, locals())

    def run_suite(
        self,
        *,
        suite_id: str,
        environment_id: str | None = None,
        dry_run: bool | None = None,
        timeout_s: int | None = None,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> RunConformanceSuiteResponse:
        """
        Runs a suite for an environment. A live environment accepts only a dry run, which makes no change and leaves out the cases that need one. The run is executed in the background; with wait_s the response contains its report if it ends in time.

        suite_id: The suite.
        environment_id: The id or the key of the environment; production when empty.
        dry_run: Makes no change, not even in the scratch tenant. Cases that need a change are reported as blocked.
        timeout_s: Seconds until the run ends at the latest; at most and by default conformance.run_timeout_s.
        wait_s: Seconds to wait for the end of the run.
        """
        return self._call(RUN_SUITE, locals())

    def get_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> ConformanceRun:
        """
        Returns one run. With wait_s the call waits for its end.

        environment_id: The id or the key of the environment.
        run_id: The run.
        wait_s: Seconds to wait for the end of the run.
        """
        return self._call(GET_RUN, locals())

    def list_runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        suite_id: str | None = None,
        state: Literal["", "queued", "running", "completed", "cancelled", "deadline_exceeded", "failed"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConformanceRun]:
        """
        Lists runs, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only those of this environment: its id or its key.
        suite_id: Only those of this suite.
        state: Only those in this state.
        """
        return self._call(LIST_RUNS, locals())

    def cancel_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        call: CallOptions | None = None,
    ) -> ConformanceRun:
        """
        Cancels a run that has not ended. It leaves no report.

        environment_id: The id or the key of the environment.
        run_id: The run.
        """
        return self._call(CANCEL_RUN, locals())

    def list_reports(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        suite_id: str | None = None,
        verdict: Literal["", "passed", "failed", "incomplete"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConformanceReport]:
        """
        Lists reports without their cases, the most recently produced first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only those of this environment: its id or its key.
        suite_id: Only those of this suite.
        verdict: Only those with this verdict.
        """
        return self._call(LIST_REPORTS, locals())

    def get_report(
        self,
        *,
        environment_id: str,
        report_id: str,
        call: CallOptions | None = None,
    ) -> ConformanceReport:
        """
        Returns one report with its cases.

        environment_id: The id or the key of the environment.
        report_id: The report.
        """
        return self._call(GET_REPORT, locals())

    def explain_report(
        self,
        *,
        environment_id: str,
        report_id: str | None = None,
        suite_id: str | None = None,
        case_id: str | None = None,
        call: CallOptions | None = None,
    ) -> ConformanceExplanation:
        """
        Explains a report: what each case means for callers, what to do about those that did not pass, and what changed since the previous report of the suite.

        environment_id: The id or the key of the environment.
        report_id: The report; the one that was produced last when empty.
        suite_id: With an empty report_id: only reports of this suite.
        case_id: Only this case; all cases when empty.
        """
        return self._call(EXPLAIN_REPORT, locals())


class AsyncConformanceService(AsyncService):
    """Runtime conformance: checks that this instance keeps its guarantees, by calling it as its callers do. Runs work in a scratch tenant of their own and never touch records of the caller's tenant."""

    def list_suites(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConformanceSuite]:
        """
        Lists the suites.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_SUITES, locals())

    async def get_suite(
        self,
        *,
        suite_id: str,
        call: CallOptions | None = None,
    ) -> ConformanceSuite:
        """
        Returns one suite with its cases.

        suite_id: The suite.
        """
        return await self._call(GET_SUITE, locals())

    async def run_suite(
        self,
        *,
        suite_id: str,
        environment_id: str | None = None,
        dry_run: bool | None = None,
        timeout_s: int | None = None,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> RunConformanceSuiteResponse:
        """
        Runs a suite for an environment. A live environment accepts only a dry run, which makes no change and leaves out the cases that need one. The run is executed in the background; with wait_s the response contains its report if it ends in time.

        suite_id: The suite.
        environment_id: The id or the key of the environment; production when empty.
        dry_run: Makes no change, not even in the scratch tenant. Cases that need a change are reported as blocked.
        timeout_s: Seconds until the run ends at the latest; at most and by default conformance.run_timeout_s.
        wait_s: Seconds to wait for the end of the run.
        """
        return await self._call(RUN_SUITE, locals())

    async def get_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> ConformanceRun:
        """
        Returns one run. With wait_s the call waits for its end.

        environment_id: The id or the key of the environment.
        run_id: The run.
        wait_s: Seconds to wait for the end of the run.
        """
        return await self._call(GET_RUN, locals())

    def list_runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        suite_id: str | None = None,
        state: Literal["", "queued", "running", "completed", "cancelled", "deadline_exceeded", "failed"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConformanceRun]:
        """
        Lists runs, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only those of this environment: its id or its key.
        suite_id: Only those of this suite.
        state: Only those in this state.
        """
        return self._list(LIST_RUNS, locals())

    async def cancel_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        call: CallOptions | None = None,
    ) -> ConformanceRun:
        """
        Cancels a run that has not ended. It leaves no report.

        environment_id: The id or the key of the environment.
        run_id: The run.
        """
        return await self._call(CANCEL_RUN, locals())

    def list_reports(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        suite_id: str | None = None,
        verdict: Literal["", "passed", "failed", "incomplete"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConformanceReport]:
        """
        Lists reports without their cases, the most recently produced first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only those of this environment: its id or its key.
        suite_id: Only those of this suite.
        verdict: Only those with this verdict.
        """
        return self._list(LIST_REPORTS, locals())

    async def get_report(
        self,
        *,
        environment_id: str,
        report_id: str,
        call: CallOptions | None = None,
    ) -> ConformanceReport:
        """
        Returns one report with its cases.

        environment_id: The id or the key of the environment.
        report_id: The report.
        """
        return await self._call(GET_REPORT, locals())

    async def explain_report(
        self,
        *,
        environment_id: str,
        report_id: str | None = None,
        suite_id: str | None = None,
        case_id: str | None = None,
        call: CallOptions | None = None,
    ) -> ConformanceExplanation:
        """
        Explains a report: what each case means for callers, what to do about those that did not pass, and what changed since the previous report of the suite.

        environment_id: The id or the key of the environment.
        report_id: The report; the one that was produced last when empty.
        suite_id: With an empty report_id: only reports of this suite.
        case_id: Only this case; all cases when empty.
        """
        return await self._call(EXPLAIN_REPORT, locals())
