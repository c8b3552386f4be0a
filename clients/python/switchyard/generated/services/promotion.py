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
    from ..types.promotion import CanaryStepInput, Candidate, CandidateGuardrailInput, CandidateHistoryEntry, NewCandidateArtifact, Simulation, WhatIf

CREATE_CANDIDATE = Operation("POST", "/api/promotions/candidates", body="*", keyed=True)
GET_CANDIDATE = Operation("GET", "/api/promotions/candidates/{candidate_id}")
LIST_CANDIDATES = Operation("GET", "/api/promotions/candidates", result="cursor")
PREFLIGHT_CANDIDATE = Operation("POST", "/api/promotions/candidates/{candidate_id}/preflight", body="*", keyed=True)
EVALUATE_GUARDRAILS = Operation("POST", "/api/promotions/candidates/{candidate_id}/guardrails/evaluate", body="*", keyed=True)
START_CANARY = Operation("POST", "/api/promotions/candidates/{candidate_id}/canary/start", body="*", keyed=True)
ADVANCE_CANARY = Operation("POST", "/api/promotions/candidates/{candidate_id}/canary/advance", body="*", keyed=True)
STOP_CANARY = Operation("POST", "/api/promotions/candidates/{candidate_id}/canary/stop", body="*", keyed=True)
APPROVE_CANDIDATE = Operation("POST", "/api/promotions/candidates/{candidate_id}/approve", body="*", keyed=True)
PROMOTE_CANDIDATE = Operation("POST", "/api/promotions/candidates/{candidate_id}/promote", body="*", keyed=True)
ROLL_BACK_CANDIDATE = Operation("POST", "/api/promotions/candidates/{candidate_id}/rollback", body="*", keyed=True)
ABORT_CANDIDATE = Operation("POST", "/api/promotions/candidates/{candidate_id}/abort", body="*", keyed=True)
LIST_CANDIDATE_HISTORY = Operation("GET", "/api/promotions/candidates/{candidate_id}/timeline", result="cursor")
REPLAY_CANDIDATE = Operation("POST", "/api/promotions/candidates/{candidate_id}/what-if", body="*")
SIMULATE_CANDIDATE = Operation("POST", "/api/promotions/candidates/{candidate_id}:simulate", body="*")


class PromotionService(Service):
    """Promotions: activates versions of pools, workflows and connectors step by step, with checks, a canary and an approval."""

    def create_candidate(
        self,
        *,
        environment_id: str | None = None,
        artifacts: Sequence[NewCandidateArtifact],
        name: str | None = None,
        description: str | None = None,
        pack_id: str | None = None,
        guardrails: Sequence[CandidateGuardrailInput] | None = None,
        waiver_reason: str | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Creates a candidate. It names exact versions; another version needs another candidate. A target can have one open candidate.

        environment_id: The id or the key of the environment; production when empty.
        artifacts: The versions, at most one per target.
        name: The display name; by default the names of the targets.
        description: The description.
        pack_id: The evidence pack. It is attached to the candidate.
        guardrails: What must hold of the targets before the canary; a success of at least 0.9 when empty.
        waiver_reason: For targets without traffic: why guardrails and canary pass where there is no outcome at all. Needs the scope promotion:waive.
        """
        return self._call(CREATE_CANDIDATE, locals())

    def get_candidate(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Returns one candidate, with the state of its canary, its checks and its approval.

        candidate_id: The candidate's id.
        """
        return self._call(GET_CANDIDATE, locals())

    def list_candidates(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        state: Literal["created", "preflight_passed", "preflight_blocked", "guardrails_passed", "guardrails_failed", "canary_running", "canary_stopped", "canary_failed", "approved", "promoted", "rolled_back", "aborted"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Candidate]:
        """
        Lists the candidates of the caller's tenant, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        state: Only those in this state.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(LIST_CANDIDATES, locals())

    def preflight_candidate(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Checks the artifacts against their targets. Blocking reasons stop the candidate until they are resolved. Nothing outside of the service is called. Repeating it discards the results of later stages.

        candidate_id: The candidate's id.
        """
        return self._call(PREFLIGHT_CANDIDATE, locals())

    def evaluate_guardrails(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Scores the guardrails on the outcomes that are stored of the targets. A guardrail without enough outcomes is inconclusive, and does not pass.

        candidate_id: The candidate's id.
        """
        return self._call(EVALUATE_GUARDRAILS, locals())

    def start_canary(
        self,
        *,
        candidate_id: str,
        percent: float | None = None,
        keys_min: int | None = None,
        margin: float | None = None,
        steps: Sequence[CanaryStepInput] | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Starts the canary: a share of the keys gets the artifacts of the candidate, always the same ones, on every node.

        candidate_id: The candidate's id.
        percent: The percentage of the keys, from 0.0001 to 50; default 5. A canary that is started again keeps its terms.
        keys_min: The keys that the canary needs before it can pass; default 100.
        margin: The largest loss of the success rate that the canary must exclude before it can pass; default 0.05.
        steps: Steps that follow each other by themselves, instead of percent. After the last one, the canary stops and has passed.
        """
        return self._call(START_CANARY, locals())

    def advance_canary(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Moves a canary with steps to its next step, if the current one has passed for as long as it must. The service does this by itself, within seconds.

        candidate_id: The candidate's id.
        """
        return self._call(ADVANCE_CANARY, locals())

    def stop_canary(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Stops the canary and stores what it has shown.

        candidate_id: The candidate's id.
        """
        return self._call(STOP_CANARY, locals())

    def approve_candidate(
        self,
        *,
        candidate_id: str,
        note: str | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Approves a candidate. The caller must be a person, and must not be the one who created the candidate. The candidate is approved when as many people as the policy of its environment asks for have approved it.

        candidate_id: The candidate's id.
        note: Why, for people.
        """
        return self._call(APPROVE_CANDIDATE, locals())

    def promote_candidate(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Activates all artifacts in one transaction. It changes nothing if a target is not what it was at the preflight.

        candidate_id: The candidate's id.
        """
        return self._call(PROMOTE_CANDIDATE, locals())

    def roll_back_candidate(
        self,
        *,
        candidate_id: str,
        reason: str | None = None,
        force: bool | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Activates what the targets had before the promotion, in one transaction.

        candidate_id: The candidate's id.
        reason: Why, for people.
        force: Rolls back although a target is not what was promoted any more. It needs a reason.
        """
        return self._call(ROLL_BACK_CANDIDATE, locals())

    def abort_candidate(
        self,
        *,
        candidate_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Ends a candidate without a promotion, and stops its canary.

        candidate_id: The candidate's id.
        reason: Why, for people.
        """
        return self._call(ABORT_CANDIDATE, locals())

    def list_candidate_history(
        self,
        *,
        candidate_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[CandidateHistoryEntry]:
        """
        Lists what happened to a candidate, oldest first.

        candidate_id: The candidate's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_CANDIDATE_HISTORY, locals())

    def replay_candidate(
        self,
        *,
        candidate_id: str,
        days: int | None = None,
        items_max: int | None = None,
        call: CallOptions | None = None,
    ) -> WhatIf:
        """
        Decides the routed items of the last days again with the candidate's pools, and shows what would have changed. Nothing is stored. SimulateCandidate tells more.

        candidate_id: The candidate's id.
        days: How many days back, from 1 to 7; default 7.
        items_max: How many items at most, the newest ones; default 1,000.
        """
        return self._call(REPLAY_CANDIDATE, locals())

    def simulate_candidate(
        self,
        *,
        candidate_id: str,
        from_: str | datetime | None = None,
        until: str | datetime | None = None,
        items_max: int | None = None,
        call: CallOptions | None = None,
    ) -> Simulation:
        """
        Replays recorded work with the candidate, and shows what would have changed and why. Items are decided again at their times, by what each target has now and by the candidate, with recipients that work as long as was recorded. Ended runs of workflows are planned again with the recorded results of their steps, up to the first difference. Nothing is stored, sent or metered. The current recipients decide; items that a pool redirected belong to the pool that took them.

        candidate_id: The candidate's id.
        from_: The oldest time of an item; by default seven days before `until`.
        until: Items before this time; by default now.
        items_max: How many items at most for each target, the newest ones; default 10,000.
        """
        return self._call(SIMULATE_CANDIDATE, locals())


class AsyncPromotionService(AsyncService):
    """Promotions: activates versions of pools, workflows and connectors step by step, with checks, a canary and an approval."""

    async def create_candidate(
        self,
        *,
        environment_id: str | None = None,
        artifacts: Sequence[NewCandidateArtifact],
        name: str | None = None,
        description: str | None = None,
        pack_id: str | None = None,
        guardrails: Sequence[CandidateGuardrailInput] | None = None,
        waiver_reason: str | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Creates a candidate. It names exact versions; another version needs another candidate. A target can have one open candidate.

        environment_id: The id or the key of the environment; production when empty.
        artifacts: The versions, at most one per target.
        name: The display name; by default the names of the targets.
        description: The description.
        pack_id: The evidence pack. It is attached to the candidate.
        guardrails: What must hold of the targets before the canary; a success of at least 0.9 when empty.
        waiver_reason: For targets without traffic: why guardrails and canary pass where there is no outcome at all. Needs the scope promotion:waive.
        """
        return await self._call(CREATE_CANDIDATE, locals())

    async def get_candidate(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Returns one candidate, with the state of its canary, its checks and its approval.

        candidate_id: The candidate's id.
        """
        return await self._call(GET_CANDIDATE, locals())

    def list_candidates(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        state: Literal["created", "preflight_passed", "preflight_blocked", "guardrails_passed", "guardrails_failed", "canary_running", "canary_stopped", "canary_failed", "approved", "promoted", "rolled_back", "aborted"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Candidate]:
        """
        Lists the candidates of the caller's tenant, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        state: Only those in this state.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._list(LIST_CANDIDATES, locals())

    async def preflight_candidate(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Checks the artifacts against their targets. Blocking reasons stop the candidate until they are resolved. Nothing outside of the service is called. Repeating it discards the results of later stages.

        candidate_id: The candidate's id.
        """
        return await self._call(PREFLIGHT_CANDIDATE, locals())

    async def evaluate_guardrails(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Scores the guardrails on the outcomes that are stored of the targets. A guardrail without enough outcomes is inconclusive, and does not pass.

        candidate_id: The candidate's id.
        """
        return await self._call(EVALUATE_GUARDRAILS, locals())

    async def start_canary(
        self,
        *,
        candidate_id: str,
        percent: float | None = None,
        keys_min: int | None = None,
        margin: float | None = None,
        steps: Sequence[CanaryStepInput] | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Starts the canary: a share of the keys gets the artifacts of the candidate, always the same ones, on every node.

        candidate_id: The candidate's id.
        percent: The percentage of the keys, from 0.0001 to 50; default 5. A canary that is started again keeps its terms.
        keys_min: The keys that the canary needs before it can pass; default 100.
        margin: The largest loss of the success rate that the canary must exclude before it can pass; default 0.05.
        steps: Steps that follow each other by themselves, instead of percent. After the last one, the canary stops and has passed.
        """
        return await self._call(START_CANARY, locals())

    async def advance_canary(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Moves a canary with steps to its next step, if the current one has passed for as long as it must. The service does this by itself, within seconds.

        candidate_id: The candidate's id.
        """
        return await self._call(ADVANCE_CANARY, locals())

    async def stop_canary(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Stops the canary and stores what it has shown.

        candidate_id: The candidate's id.
        """
        return await self._call(STOP_CANARY, locals())

    async def approve_candidate(
        self,
        *,
        candidate_id: str,
        note: str | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Approves a candidate. The caller must be a person, and must not be the one who created the candidate. The candidate is approved when as many people as the policy of its environment asks for have approved it.

        candidate_id: The candidate's id.
        note: Why, for people.
        """
        return await self._call(APPROVE_CANDIDATE, locals())

    async def promote_candidate(
        self,
        *,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Activates all artifacts in one transaction. It changes nothing if a target is not what it was at the preflight.

        candidate_id: The candidate's id.
        """
        return await self._call(PROMOTE_CANDIDATE, locals())

    async def roll_back_candidate(
        self,
        *,
        candidate_id: str,
        reason: str | None = None,
        force: bool | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Activates what the targets had before the promotion, in one transaction.

        candidate_id: The candidate's id.
        reason: Why, for people.
        force: Rolls back although a target is not what was promoted any more. It needs a reason.
        """
        return await self._call(ROLL_BACK_CANDIDATE, locals())

    async def abort_candidate(
        self,
        *,
        candidate_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> Candidate:
        """
        Ends a candidate without a promotion, and stops its canary.

        candidate_id: The candidate's id.
        reason: Why, for people.
        """
        return await self._call(ABORT_CANDIDATE, locals())

    def list_candidate_history(
        self,
        *,
        candidate_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[CandidateHistoryEntry]:
        """
        Lists what happened to a candidate, oldest first.

        candidate_id: The candidate's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_CANDIDATE_HISTORY, locals())

    async def replay_candidate(
        self,
        *,
        candidate_id: str,
        days: int | None = None,
        items_max: int | None = None,
        call: CallOptions | None = None,
    ) -> WhatIf:
        """
        Decides the routed items of the last days again with the candidate's pools, and shows what would have changed. Nothing is stored. SimulateCandidate tells more.

        candidate_id: The candidate's id.
        days: How many days back, from 1 to 7; default 7.
        items_max: How many items at most, the newest ones; default 1,000.
        """
        return await self._call(REPLAY_CANDIDATE, locals())

    async def simulate_candidate(
        self,
        *,
        candidate_id: str,
        from_: str | datetime | None = None,
        until: str | datetime | None = None,
        items_max: int | None = None,
        call: CallOptions | None = None,
    ) -> Simulation:
        """
        Replays recorded work with the candidate, and shows what would have changed and why. Items are decided again at their times, by what each target has now and by the candidate, with recipients that work as long as was recorded. Ended runs of workflows are planned again with the recorded results of their steps, up to the first difference. Nothing is stored, sent or metered. The current recipients decide; items that a pool redirected belong to the pool that took them.

        candidate_id: The candidate's id.
        from_: The oldest time of an item; by default seven days before `until`.
        until: Items before this time; by default now.
        items_max: How many items at most for each target, the newest ones; default 10,000.
        """
        return await self._call(SIMULATE_CANDIDATE, locals())
