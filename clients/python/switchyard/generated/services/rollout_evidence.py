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
    from ..types.rollout_evidence import EvidenceArtifactInput, EvidenceCaseInput, EvidenceEnvelopeInput, EvidenceExplanation, EvidenceGate, EvidenceKey, EvidenceKeySet, EvidenceManifest, EvidencePack, EvidenceReceipt, EvidenceRequirementSet, EvidenceRun, EvidenceSubjectInput, EvidenceToolInput, EvidenceVerification

CREATE_PACK = Operation("POST", "/api/rollout-evidence/packs", body="*", keyed=True)
LIST_PACKS = Operation("GET", "/api/rollout-evidence/packs", result="cursor")
GET_PACK = Operation("GET", "/api/rollout-evidence/packs/{environment_id}/{pack_id}")
UPDATE_PACK = Operation("PUT", "/api/rollout-evidence/packs/{environment_id}/{pack_id}", body="*", keyed=True)
ADD_ARTIFACT = Operation("POST", "/api/rollout-evidence/packs/{environment_id}/{pack_id}/artifacts", body="*", keyed=True)
ADD_RECEIPT = Operation("POST", "/api/rollout-evidence/packs/{environment_id}/{pack_id}/receipts", body="*", keyed=True)
LIST_RECEIPTS = Operation("GET", "/api/rollout-evidence/packs/{environment_id}/{pack_id}/receipts", result="cursor")
START_RUN = Operation("POST", "/api/rollout-evidence/packs/{environment_id}/{pack_id}/runs", body="*", keyed=True)
LIST_RUNS = Operation("GET", "/api/rollout-evidence/packs/{environment_id}/{pack_id}/runs", result="cursor")
GET_RUN = Operation("GET", "/api/rollout-evidence/runs/{environment_id}/{run_id}")
HEARTBEAT_RUN = Operation("POST", "/api/rollout-evidence/runs/{environment_id}/{run_id}:heartbeat", body="*", keyed=True)
CANCEL_RUN = Operation("POST", "/api/rollout-evidence/runs/{environment_id}/{run_id}:cancel", body="*", keyed=True)
EVALUATE_GATE = Operation("POST", "/api/rollout-evidence/packs/{environment_id}/{pack_id}/gate:evaluate", body="*")
EXPLAIN_PACK = Operation("POST", "/api/rollout-evidence/packs/{environment_id}/{pack_id}:explain", body="*")
EXPORT_PACK = Operation("POST", "/api/rollout-evidence/packs/{environment_id}/{pack_id}:export", body="*", keyed=True)
ARCHIVE_PACK = Operation("POST", "/api/rollout-evidence/packs/{environment_id}/{pack_id}:archive", body="*", keyed=True)
ATTACH_PACK = Operation("POST", "/api/rollout-evidence/packs/{environment_id}/{pack_id}:attach-to-promotion", body="*", keyed=True)
EXPAND_REQUIREMENTS = Operation("POST", "/api/rollout-evidence/requirements:expand", body="*")
LIST_KEYS = Operation("GET", "/api/rollout-evidence/keys")
ROTATE_KEY = Operation("POST", "/api/rollout-evidence/keys:rotate", body="*", keyed=True)
VERIFY_RECEIPT = Operation("POST", "/api/rollout-evidence/receipts:verify", body="*")


class RolloutEvidenceService(Service):
    """Rollout evidence: proof that a change was checked before it is promoted. A pack holds artifacts by their digests and signed receipts of checks. Its gate is open while every requirement has a valid receipt."""

    def create_pack(
        self,
        *,
        environment_id: str | None = None,
        name: str,
        description: str | None = None,
        required_types: Sequence[Literal["scenario", "connector", "strategy", "runtime", "graph", "proof", "canary"]] | None = None,
        max_age_s: int | None = None,
        accepted_producers: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Creates an evidence pack for an environment.

        environment_id: The id or the key of the environment; production when empty.
        name: The name, for people.
        description: What the pack is for.
        required_types: Receipt types that every artifact needs in addition to the requirements of its kind, where they apply to it: scenario, connector, strategy, runtime, graph, proof or canary.
        max_age_s: The age at which receipts are stale, if it is less than that of the requirement; no further limit when 0.
        accepted_producers: The producers whose receipts count: `service` for what the service observed itself, or subjects of callers. All when empty.
        """
        return self._call(CREATE_PACK, locals())

    def list_packs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        status: Literal["", "open", "attached", "archived"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[EvidencePack]:
        """
        Lists the evidence packs of the caller's tenant, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only packs of this environment: its id or its key.
        status: Only packs with this status: open, attached or archived.
        """
        return self._call(LIST_PACKS, locals())

    def get_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Returns an evidence pack with its artifacts.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return self._call(GET_PACK, locals())

    def update_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        name: str,
        description: str | None = None,
        required_types: Sequence[Literal["scenario", "connector", "strategy", "runtime", "graph", "proof", "canary"]] | None = None,
        max_age_s: int | None = None,
        record_version: int | None = None,
        accepted_producers: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Replaces the name, the description and the demands of an open pack. A demand that the request leaves out is removed.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        name: The name, for people.
        description: What the pack is for.
        required_types: Receipt types that every artifact needs in addition to the requirements of its kind, where they apply to it: scenario, connector, strategy, runtime, graph, proof or canary.
        max_age_s: The age at which receipts are stale, if it is less than that of the requirement; no further limit when 0.
        record_version: The version of the record that the caller read; the update is unconditional when absent.
        accepted_producers: The producers whose receipts count: `service` for what the service observed itself, or subjects of callers. All when empty.
        """
        return self._call(UPDATE_PACK, locals())

    def add_artifact(
        self,
        *,
        environment_id: str,
        pack_id: str,
        artifact: EvidenceArtifactInput,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Adds an artifact to an open pack by its SHA-256. An artifact of the same kind and name is replaced; receipts about the replaced one are stale.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        artifact: The artifact.
        """
        return self._call(ADD_ARTIFACT, locals())

    def add_receipt(
        self,
        *,
        environment_id: str,
        pack_id: str,
        type: Literal["scenario", "connector", "strategy", "runtime", "graph", "proof"],
        result: Literal["passed", "failed", "blocked"],
        subjects: Sequence[EvidenceSubjectInput] | None = None,
        observed_environment_id: str | None = None,
        candidate_id: str | None = None,
        run_id: str | None = None,
        token: str | None = None,
        cases: Sequence[EvidenceCaseInput] | None = None,
        tool: EvidenceToolInput | None = None,
        details: Mapping[str, Any] | None = None,
        ttl_s: int | None = None,
        report_id: str | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceReceipt:
        """
        Adds the result of a check to a pack, as a statement that the instance signs. A receipt of a run needs the token of the run, and ends it.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        type: The kind of check: scenario, connector, strategy, runtime, graph or proof. A receipt of a run has the type of the run. A canary receipt comes from the service alone, when a canary is stopped.
        result: passed, failed or blocked (the check could not be made). That of the report for a runtime receipt.
        subjects: What was checked: artifacts of the pack at their current digests. Left out for a receipt of a run, which checked what was pinned at its start.
        observed_environment_id: The id or the key of the environment in which the check was made; the environment of the pack when empty.
        candidate_id: The promotion that the check was made for; the one that the pack is attached to when empty.
        run_id: The run that made the check, if any.
        token: The token of the run.
        cases: The results of the cases of the check.
        tool: The program that made the check.
        details: Anything else about the check, up to 64 KiB of JSON. Never exported.
        ttl_s: Seconds until the receipt expires; 7 days when 0, at most 30 days.
        report_id: The conformance report of the environment that a runtime receipt is about. Its cases are those of the receipt.
        """
        return self._call(ADD_RECEIPT, locals())

    def list_receipts(
        self,
        *,
        environment_id: str,
        pack_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        type: Literal["", "scenario", "connector", "strategy", "runtime", "graph", "proof", "canary"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[EvidenceReceipt]:
        """
        Lists the receipts of a pack, oldest first.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        type: Only receipts of this type.
        """
        return self._call(LIST_RECEIPTS, locals())

    def start_run(
        self,
        *,
        environment_id: str,
        pack_id: str,
        type: Literal["scenario", "connector", "strategy", "runtime", "graph", "proof"],
        mode: Literal["sandbox", "dry_run"],
        claim: bool | None = None,
        lease_s: int | None = None,
        deadline_s: int | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceRun:
        """
        Starts a run that collects evidence of one type about the artifacts of a pack, as they are now. The mode must be one that the environment allows.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        type: The type of receipt that the run produces. Canaries have no runs: the service reports them itself.
        mode: How the run acts: sandbox or dry_run. A live environment allows dry_run only.
        claim: Whether the caller claims the run at once. Otherwise the run is pending until a worker claims it with a heartbeat.
        lease_s: Seconds that a lease lasts; 60 when 0.
        deadline_s: Seconds until the run ends in any case; an hour when 0.
        """
        return self._call(START_RUN, locals())

    def list_runs(
        self,
        *,
        environment_id: str,
        pack_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[EvidenceRun]:
        """
        Lists the runs of a pack, oldest first.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_RUNS, locals())

    def get_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        call: CallOptions | None = None,
    ) -> EvidenceRun:
        """
        Returns a run.

        environment_id: The id or the key of the environment of the run.
        run_id: The run.
        """
        return self._call(GET_RUN, locals())

    def heartbeat_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        token: str | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceRun:
        """
        Claims a run, or renews the lease of a claimed run. A run without a lease is claimed by a call without a token; the response contains the token. The lease never passes the deadline of the run.

        environment_id: The id or the key of the environment of the run.
        run_id: The run.
        token: The token of the lease; empty to claim a run that nobody holds.
        """
        return self._call(HEARTBEAT_RUN, locals())

    def cancel_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceRun:
        """
        Cancels a run that has not ended. Its token becomes invalid.

        environment_id: The id or the key of the environment of the run.
        run_id: The run.
        reason: Why.
        """
        return self._call(CANCEL_RUN, locals())

    def evaluate_gate(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidenceGate:
        """
        Evaluates the gate of a pack: open if every requirement is satisfied, else closed with the reasons. An attached pack is evaluated for the artifacts of its promotion.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return self._call(EVALUATE_GATE, locals())

    def explain_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidenceExplanation:
        """
        Explains the gate of a pack: for every requirement the receipts that were considered, the verdict on each, and what to do next.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return self._call(EXPLAIN_PACK, locals())

    def export_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidenceManifest:
        """
        Exports a pack as a signed manifest without secrets, storage references, payloads or personal data.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return self._call(EXPORT_PACK, locals())

    def archive_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Archives a pack: it accepts nothing more. A pack of a promotion that has not ended cannot be archived.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return self._call(ARCHIVE_PACK, locals())

    def attach_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Attaches a pack to a promotion of its environment, and pins its artifacts and demands. The pack must contain every artifact of the promotion.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        candidate_id: The promotion candidate.
        """
        return self._call(ATTACH_PACK, locals())

    def expand_requirements(
        self,
        *,
        environment_id: str | None = None,
        kinds: Sequence[Literal["routing", "workflow", "connector", "strategy"]] | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceRequirementSet:
        """
        Returns the requirements that artifacts of some kinds must satisfy in an environment.

        environment_id: The id or the key of the environment; production when empty.
        kinds: The kinds of artifacts: routing, workflow, connector or strategy; all when empty.
        """
        return self._call(EXPAND_REQUIREMENTS, locals())

    def list_keys(
        self,
        *,
        call: CallOptions | None = None,
    ) -> EvidenceKeySet:
        """Lists the public keys that verify receipts and manifests, newest first. Needs no credentials."""
        return self._call(LIST_KEYS, locals())

    def rotate_key(
        self,
        *,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceKey:
        """
        Creates a new signing key and retires the current one, which still verifies what it signed. Only an operator may do so.

        reason: Why.
        """
        return self._call(ROTATE_KEY, locals())

    def verify_receipt(
        self,
        *,
        envelope: EvidenceEnvelopeInput,
        call: CallOptions | None = None,
    ) -> EvidenceVerification:
        """
        Verifies the signature of a receipt or a manifest. Needs no credentials.

        envelope: The envelope.
        """
        return self._call(VERIFY_RECEIPT, locals())


class AsyncRolloutEvidenceService(AsyncService):
    """Rollout evidence: proof that a change was checked before it is promoted. A pack holds artifacts by their digests and signed receipts of checks. Its gate is open while every requirement has a valid receipt."""

    async def create_pack(
        self,
        *,
        environment_id: str | None = None,
        name: str,
        description: str | None = None,
        required_types: Sequence[Literal["scenario", "connector", "strategy", "runtime", "graph", "proof", "canary"]] | None = None,
        max_age_s: int | None = None,
        accepted_producers: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Creates an evidence pack for an environment.

        environment_id: The id or the key of the environment; production when empty.
        name: The name, for people.
        description: What the pack is for.
        required_types: Receipt types that every artifact needs in addition to the requirements of its kind, where they apply to it: scenario, connector, strategy, runtime, graph, proof or canary.
        max_age_s: The age at which receipts are stale, if it is less than that of the requirement; no further limit when 0.
        accepted_producers: The producers whose receipts count: `service` for what the service observed itself, or subjects of callers. All when empty.
        """
        return await self._call(CREATE_PACK, locals())

    def list_packs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        status: Literal["", "open", "attached", "archived"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[EvidencePack]:
        """
        Lists the evidence packs of the caller's tenant, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only packs of this environment: its id or its key.
        status: Only packs with this status: open, attached or archived.
        """
        return self._list(LIST_PACKS, locals())

    async def get_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Returns an evidence pack with its artifacts.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return await self._call(GET_PACK, locals())

    async def update_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        name: str,
        description: str | None = None,
        required_types: Sequence[Literal["scenario", "connector", "strategy", "runtime", "graph", "proof", "canary"]] | None = None,
        max_age_s: int | None = None,
        record_version: int | None = None,
        accepted_producers: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Replaces the name, the description and the demands of an open pack. A demand that the request leaves out is removed.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        name: The name, for people.
        description: What the pack is for.
        required_types: Receipt types that every artifact needs in addition to the requirements of its kind, where they apply to it: scenario, connector, strategy, runtime, graph, proof or canary.
        max_age_s: The age at which receipts are stale, if it is less than that of the requirement; no further limit when 0.
        record_version: The version of the record that the caller read; the update is unconditional when absent.
        accepted_producers: The producers whose receipts count: `service` for what the service observed itself, or subjects of callers. All when empty.
        """
        return await self._call(UPDATE_PACK, locals())

    async def add_artifact(
        self,
        *,
        environment_id: str,
        pack_id: str,
        artifact: EvidenceArtifactInput,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Adds an artifact to an open pack by its SHA-256. An artifact of the same kind and name is replaced; receipts about the replaced one are stale.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        artifact: The artifact.
        """
        return await self._call(ADD_ARTIFACT, locals())

    async def add_receipt(
        self,
        *,
        environment_id: str,
        pack_id: str,
        type: Literal["scenario", "connector", "strategy", "runtime", "graph", "proof"],
        result: Literal["passed", "failed", "blocked"],
        subjects: Sequence[EvidenceSubjectInput] | None = None,
        observed_environment_id: str | None = None,
        candidate_id: str | None = None,
        run_id: str | None = None,
        token: str | None = None,
        cases: Sequence[EvidenceCaseInput] | None = None,
        tool: EvidenceToolInput | None = None,
        details: Mapping[str, Any] | None = None,
        ttl_s: int | None = None,
        report_id: str | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceReceipt:
        """
        Adds the result of a check to a pack, as a statement that the instance signs. A receipt of a run needs the token of the run, and ends it.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        type: The kind of check: scenario, connector, strategy, runtime, graph or proof. A receipt of a run has the type of the run. A canary receipt comes from the service alone, when a canary is stopped.
        result: passed, failed or blocked (the check could not be made). That of the report for a runtime receipt.
        subjects: What was checked: artifacts of the pack at their current digests. Left out for a receipt of a run, which checked what was pinned at its start.
        observed_environment_id: The id or the key of the environment in which the check was made; the environment of the pack when empty.
        candidate_id: The promotion that the check was made for; the one that the pack is attached to when empty.
        run_id: The run that made the check, if any.
        token: The token of the run.
        cases: The results of the cases of the check.
        tool: The program that made the check.
        details: Anything else about the check, up to 64 KiB of JSON. Never exported.
        ttl_s: Seconds until the receipt expires; 7 days when 0, at most 30 days.
        report_id: The conformance report of the environment that a runtime receipt is about. Its cases are those of the receipt.
        """
        return await self._call(ADD_RECEIPT, locals())

    def list_receipts(
        self,
        *,
        environment_id: str,
        pack_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        type: Literal["", "scenario", "connector", "strategy", "runtime", "graph", "proof", "canary"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[EvidenceReceipt]:
        """
        Lists the receipts of a pack, oldest first.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        type: Only receipts of this type.
        """
        return self._list(LIST_RECEIPTS, locals())

    async def start_run(
        self,
        *,
        environment_id: str,
        pack_id: str,
        type: Literal["scenario", "connector", "strategy", "runtime", "graph", "proof"],
        mode: Literal["sandbox", "dry_run"],
        claim: bool | None = None,
        lease_s: int | None = None,
        deadline_s: int | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceRun:
        """
        Starts a run that collects evidence of one type about the artifacts of a pack, as they are now. The mode must be one that the environment allows.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        type: The type of receipt that the run produces. Canaries have no runs: the service reports them itself.
        mode: How the run acts: sandbox or dry_run. A live environment allows dry_run only.
        claim: Whether the caller claims the run at once. Otherwise the run is pending until a worker claims it with a heartbeat.
        lease_s: Seconds that a lease lasts; 60 when 0.
        deadline_s: Seconds until the run ends in any case; an hour when 0.
        """
        return await self._call(START_RUN, locals())

    def list_runs(
        self,
        *,
        environment_id: str,
        pack_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[EvidenceRun]:
        """
        Lists the runs of a pack, oldest first.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_RUNS, locals())

    async def get_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        call: CallOptions | None = None,
    ) -> EvidenceRun:
        """
        Returns a run.

        environment_id: The id or the key of the environment of the run.
        run_id: The run.
        """
        return await self._call(GET_RUN, locals())

    async def heartbeat_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        token: str | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceRun:
        """
        Claims a run, or renews the lease of a claimed run. A run without a lease is claimed by a call without a token; the response contains the token. The lease never passes the deadline of the run.

        environment_id: The id or the key of the environment of the run.
        run_id: The run.
        token: The token of the lease; empty to claim a run that nobody holds.
        """
        return await self._call(HEARTBEAT_RUN, locals())

    async def cancel_run(
        self,
        *,
        environment_id: str,
        run_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceRun:
        """
        Cancels a run that has not ended. Its token becomes invalid.

        environment_id: The id or the key of the environment of the run.
        run_id: The run.
        reason: Why.
        """
        return await self._call(CANCEL_RUN, locals())

    async def evaluate_gate(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidenceGate:
        """
        Evaluates the gate of a pack: open if every requirement is satisfied, else closed with the reasons. An attached pack is evaluated for the artifacts of its promotion.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return await self._call(EVALUATE_GATE, locals())

    async def explain_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidenceExplanation:
        """
        Explains the gate of a pack: for every requirement the receipts that were considered, the verdict on each, and what to do next.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return await self._call(EXPLAIN_PACK, locals())

    async def export_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidenceManifest:
        """
        Exports a pack as a signed manifest without secrets, storage references, payloads or personal data.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return await self._call(EXPORT_PACK, locals())

    async def archive_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Archives a pack: it accepts nothing more. A pack of a promotion that has not ended cannot be archived.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        """
        return await self._call(ARCHIVE_PACK, locals())

    async def attach_pack(
        self,
        *,
        environment_id: str,
        pack_id: str,
        candidate_id: str,
        call: CallOptions | None = None,
    ) -> EvidencePack:
        """
        Attaches a pack to a promotion of its environment, and pins its artifacts and demands. The pack must contain every artifact of the promotion.

        environment_id: The id or the key of the environment of the pack.
        pack_id: The pack.
        candidate_id: The promotion candidate.
        """
        return await self._call(ATTACH_PACK, locals())

    async def expand_requirements(
        self,
        *,
        environment_id: str | None = None,
        kinds: Sequence[Literal["routing", "workflow", "connector", "strategy"]] | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceRequirementSet:
        """
        Returns the requirements that artifacts of some kinds must satisfy in an environment.

        environment_id: The id or the key of the environment; production when empty.
        kinds: The kinds of artifacts: routing, workflow, connector or strategy; all when empty.
        """
        return await self._call(EXPAND_REQUIREMENTS, locals())

    async def list_keys(
        self,
        *,
        call: CallOptions | None = None,
    ) -> EvidenceKeySet:
        """Lists the public keys that verify receipts and manifests, newest first. Needs no credentials."""
        return await self._call(LIST_KEYS, locals())

    async def rotate_key(
        self,
        *,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> EvidenceKey:
        """
        Creates a new signing key and retires the current one, which still verifies what it signed. Only an operator may do so.

        reason: Why.
        """
        return await self._call(ROTATE_KEY, locals())

    async def verify_receipt(
        self,
        *,
        envelope: EvidenceEnvelopeInput,
        call: CallOptions | None = None,
    ) -> EvidenceVerification:
        """
        Verifies the signature of a receipt or a manifest. Needs no credentials.

        envelope: The envelope.
        """
        return await self._call(VERIFY_RECEIPT, locals())
