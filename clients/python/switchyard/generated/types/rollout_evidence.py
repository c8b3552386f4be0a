# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _EvidencePackRequired(TypedDict):
    #: The id.
    id: str
    #: The tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The name, for people.
    name: str
    #: What the pack is for.
    description: str
    #: open, attached (to a promotion: artifacts and demands are pinned) or archived.
    status: str
    #: Receipt types that every artifact needs in addition to the requirements of its kind, where they apply to it.
    required_types: List[str]
    #: The age at which receipts are stale, if it is less than that of the requirement; no further limit when 0.
    max_age_s: int
    #: The version of the requirements that the gate applies.
    requirements_version: int
    #: Rises with every artifact, receipt and change of demands.
    revision: int
    #: The SHA-256 of the pack at this revision: environment, demands, artifacts and receipts.
    digest: str
    #: The artifacts, by kind and name.
    artifacts: List[EvidenceArtifact]
    #: The calls that the status allows.
    possible_calls: List[str]
    #: The version of the record; a new pack has 1.
    record_version: int
    #: The producers whose receipts count; all when empty.
    accepted_producers: List[str]


class EvidencePack(_EvidencePackRequired, total=False):
    """An evidence pack."""

    #: The promotion that the pack is attached to; absent while it is open.
    attachment: EvidenceAttachment
    #: When the pack was archived.
    archived_at: str
    #: When it was created.
    created_at: str
    #: When it was last changed.
    updated_at: str


class EvidenceArtifact(TypedDict):
    """An artifact of a pack, addressed by its digest."""

    #: What it is: routing, workflow, connector or strategy for what is promoted; report for a supporting document.
    kind: str
    #: Its name, such as the id of the pool or the workflow: letters, digits, dots, slashes, dashes and underscores.
    name: str
    #: Its exact version.
    version: str
    #: The SHA-256 of its content, in lower-case hexadecimal.
    sha256: str
    #: The size of its content in bytes, if it is known.
    size_bytes: int
    #: Where its content is kept, for the people of the tenant. Never exported.
    storage_ref: str


class _EvidenceAttachmentRequired(TypedDict):
    #: The promotion candidate.
    candidate_id: str
    #: The revision of the pack when it was attached.
    revision: int
    #: The digest of the pack when it was attached.
    digest: str


class EvidenceAttachment(_EvidenceAttachmentRequired, total=False):
    """The attachment of a pack to a promotion."""

    #: When it was attached.
    attached_at: str


class _EvidenceArtifactInputRequired(TypedDict):
    #: What it is: routing, workflow, connector or strategy for what is promoted; report for a supporting document.
    kind: Literal["routing", "workflow", "connector", "strategy", "report"]
    #: Its name, such as the id of the pool or the workflow: letters, digits, dots, slashes, dashes and underscores.
    name: str
    #: Its exact version.
    version: str
    #: The SHA-256 of its content, in lower-case hexadecimal.
    sha256: str


class EvidenceArtifactInput(_EvidenceArtifactInputRequired, total=False):
    """An artifact of a pack, addressed by its digest."""

    #: The size of its content in bytes, if it is known.
    size_bytes: int
    #: Where its content is kept, for the people of the tenant. Never exported.
    storage_ref: str


class _EvidenceReceiptRequired(TypedDict):
    #: The id.
    id: str
    #: The tenant.
    tenant_id: str
    #: The pack.
    pack_id: str
    #: The kind of check: scenario, connector, strategy, runtime, graph, proof or canary.
    type: str
    #: passed, failed or blocked (the check could not be made).
    result: str
    #: The environment in which the check was made.
    environment_id: str
    #: The promotion that the check was made for; empty if it is about its artifacts only.
    candidate_id: str
    #: The run that made the check, if any.
    run_id: str
    #: What was checked.
    subjects: List[EvidenceSubject]
    #: The results of its cases.
    cases: List[EvidenceCase]
    #: The revision of the pack that the receipt made.
    revision: int
    #: The SHA-256 of the statement as canonical JSON.
    digest: str
    #: Who made the check: `service` for what the service observed itself, else the subject of the caller.
    producer: str


class EvidenceReceipt(_EvidenceReceiptRequired, total=False):
    """A receipt: the signed result of a check."""

    #: The program that made the check.
    tool: EvidenceTool
    #: Anything else about the check. Not in the statement, which has its SHA-256 only, and never exported.
    details: Dict[str, Any]
    #: When it was issued.
    issued_at: str
    #: When it expires.
    expires_at: str
    #: The signed statement.
    envelope: EvidenceEnvelope


class EvidenceSubject(TypedDict):
    """What a receipt is about: an artifact at an exact digest."""

    #: The kind of the artifact: routing, workflow, connector or strategy.
    kind: str
    #: The name of the artifact.
    name: str
    #: The version of the artifact.
    version: str
    #: The SHA-256 of the artifact.
    sha256: str
    #: The SHA-256 of what the artifact replaces, if the check compared with it.
    base_sha256: str


class EvidenceCase(TypedDict):
    """The result of one case of a check."""

    #: The stable id of the case.
    id: str
    #: passed, failed, blocked or not_applicable.
    status: str


class EvidenceTool(TypedDict):
    """The program that made a check."""

    #: The name.
    name: str
    #: The version.
    version: str


class EvidenceEnvelope(TypedDict):
    """A signed statement: a DSSE envelope around an in-toto statement."""

    #: The type of the payload; it is part of what is signed.
    payload_type: str
    #: The statement as canonical JSON, in base64.
    payload: str
    #: The signatures.
    signatures: List[EvidenceSignature]


class EvidenceSignature(TypedDict):
    """A signature of an envelope."""

    #: The id of the key.
    keyid: str
    #: The 64 bytes of the Ed25519 signature, in base64.
    sig: str


class _EvidenceSubjectInputRequired(TypedDict):
    #: The kind of the artifact: routing, workflow, connector or strategy.
    kind: Literal["routing", "workflow", "connector", "strategy"]
    #: The name of the artifact.
    name: str
    #: The version of the artifact.
    version: str
    #: The SHA-256 of the artifact.
    sha256: str


class EvidenceSubjectInput(_EvidenceSubjectInputRequired, total=False):
    """What a receipt is about: an artifact at an exact digest."""

    #: The SHA-256 of what the artifact replaces, if the check compared with it.
    base_sha256: str


class EvidenceCaseInput(TypedDict):
    """The result of one case of a check."""

    #: The stable id of the case.
    id: str
    #: passed, failed, blocked or not_applicable.
    status: Literal["passed", "failed", "blocked", "not_applicable"]


class _EvidenceToolInputRequired(TypedDict):
    #: The name.
    name: str


class EvidenceToolInput(_EvidenceToolInputRequired, total=False):
    """The program that made a check."""

    #: The version.
    version: str


class _EvidenceRunRequired(TypedDict):
    #: The id.
    id: str
    #: The tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The pack.
    pack_id: str
    #: The promotion that the pack was attached to at the start; empty if none.
    candidate_id: str
    #: The type of receipt that the run produces.
    type: str
    #: How the run acts: sandbox or dry_run.
    mode: str
    #: What the run checks, pinned at its start.
    subjects: List[EvidenceSubject]
    #: pending (nobody has claimed it), running, succeeded, failed, cancelled, lease_expired (it can be claimed again) or deadline_exceeded.
    status: str
    #: How often the run was claimed. Only the newest token is valid.
    fence: int
    #: Why it was cancelled.
    reason: str
    #: The receipt that ended it.
    receipt_id: str
    #: The calls that the status allows.
    possible_calls: List[str]
    #: The version of the record; a new run has 1.
    record_version: int


class EvidenceRun(_EvidenceRunRequired, total=False):
    """A run: a worker that collects evidence, under a lease."""

    #: The token of the lease, only in the response to the call that claims the run.
    token: str
    #: When the lease ends without a heartbeat.
    lease_until: str
    #: When the run ends in any case.
    deadline_at: str
    #: When it ended.
    ended_at: str
    #: When it was created.
    created_at: str
    #: When it was last changed.
    updated_at: str


class _EvidenceGateRequired(TypedDict):
    #: open or closed.
    state: str
    #: Why it is closed, by requirement and artifact.
    reasons: List[EvidenceGateReason]
    #: What to do next; empty while it is open.
    next_step: str
    #: The SHA-256 of what was decided and on which receipts. It changes when another receipt decides, or none does any more.
    digest: str
    #: The promotion that the gate was evaluated for; empty if the pack is not attached.
    candidate_id: str
    #: The revision of the pack.
    pack_revision: int
    #: The digest of the pack.
    pack_digest: str
    #: The version of the requirements.
    requirements_version: int


class EvidenceGate(_EvidenceGateRequired, total=False):
    """The state of a gate."""

    #: Until when the gate stays open if nothing is added; absent while it is closed.
    valid_until: str


class _EvidenceGateReasonRequired(TypedDict):
    #: missing, failed, blocked, stale, expired, wrong_environment, wrong_candidate or wrong_producer.
    reason: str
    #: The requirement.
    requirement_id: str
    #: The receipt that decided, if there is one.
    receipt_id: str
    #: What to do next.
    next_step: str


class EvidenceGateReason(_EvidenceGateReasonRequired, total=False):
    """Why a gate is closed."""

    #: The artifact; absent if the pack has none.
    subject: EvidenceSubject


class _EvidenceExplanationRequired(TypedDict):
    #: The findings, by requirement and artifact.
    findings: List[EvidenceFinding]


class EvidenceExplanation(_EvidenceExplanationRequired, total=False):
    """The explanation of a gate."""

    #: The gate.
    gate: EvidenceGate


class _EvidenceFindingRequired(TypedDict):
    #: satisfied, or the reason for which it is not.
    verdict: str
    #: The verdict in a sentence.
    explanation: str
    #: What to do next; empty if it is satisfied.
    next_step: str
    #: The receipts about the artifact, newest first, up to 20.
    receipts: List[EvidenceConsideredReceipt]


class EvidenceFinding(_EvidenceFindingRequired, total=False):
    """How a requirement of an artifact was decided."""

    #: The requirement.
    requirement: EvidenceRequirement
    #: The artifact.
    subject: EvidenceSubject


class EvidenceRequirement(TypedDict):
    """A requirement: artifacts of a kind need a valid receipt of a type."""

    #: The stable id, such as workflow.graph.
    id: str
    #: The kind of artifact.
    kind: str
    #: The type of receipt.
    receipt_type: str
    #: The age at which a receipt is stale.
    max_age_s: int
    #: Whether the receipt must name the promotion.
    per_candidate: bool
    #: What it shows.
    description: str


class _EvidenceConsideredReceiptRequired(TypedDict):
    #: The receipt.
    receipt_id: str
    #: satisfied, or the reason for which it does not satisfy the requirement.
    verdict: str
    #: Whether it decided: the newest receipt of the right environment and promotion does.
    decisive: bool


class EvidenceConsideredReceipt(_EvidenceConsideredReceiptRequired, total=False):
    """The verdict on a receipt."""

    #: When it was issued.
    issued_at: str
    #: When it expires.
    expires_at: str


class _EvidenceManifestRequired(TypedDict):
    #: The pack.
    pack_id: str
    #: The environment.
    environment_id: str
    #: The status of the pack.
    status: str
    #: The revision of the pack.
    revision: int
    #: The digest of the pack.
    digest: str
    #: The version of the requirements.
    requirements_version: int
    #: The artifacts.
    artifacts: List[EvidenceManifestArtifact]
    #: The receipts, oldest first.
    receipts: List[EvidenceManifestReceipt]
    #: The public keys that verify the receipts and this manifest.
    keys: List[EvidenceKey]


class EvidenceManifest(_EvidenceManifestRequired, total=False):
    """The redacted export of a pack. It contains identifiers, digests, results and times only."""

    #: The gate at the time of the export.
    gate: EvidenceGate
    #: When it was exported.
    exported_at: str
    #: A signed statement about the manifest: the digests of pack, artifacts, receipts and gate.
    envelope: EvidenceEnvelope


class EvidenceManifestArtifact(TypedDict):
    """An artifact in a manifest."""

    #: The kind.
    kind: str
    #: The name.
    name: str
    #: The version.
    version: str
    #: The SHA-256.
    sha256: str
    #: The size in bytes, if it is known.
    size_bytes: int


class _EvidenceManifestReceiptRequired(TypedDict):
    #: The id.
    id: str
    #: The type.
    type: str
    #: The result.
    result: str
    #: The SHA-256 of the statement.
    digest: str


class EvidenceManifestReceipt(_EvidenceManifestReceiptRequired, total=False):
    """A receipt in a manifest."""

    #: When it was issued.
    issued_at: str
    #: When it expires.
    expires_at: str
    #: The signed statement, which contains identifiers, digests, results and times only.
    envelope: EvidenceEnvelope


class _EvidenceKeyRequired(TypedDict):
    #: The id: ed25519- and the first 32 hexadecimal digits of the SHA-256 of the key.
    id: str
    #: The 32 bytes of the key, in base64.
    public_key: str
    #: active (signs) or retired (only verifies).
    status: str


class EvidenceKey(_EvidenceKeyRequired, total=False):
    """A public key that verifies receipts and manifests."""

    #: When it was created.
    created_at: str
    #: When it was retired.
    retired_at: str


class EvidenceRequirementSet(TypedDict):
    """The requirements of an environment."""

    #: The version of the table of requirements.
    version: int
    #: The mode of the environment: live or sandbox.
    environment_mode: str
    #: The requirements, by id.
    requirements: List[EvidenceRequirement]


class EvidenceKeySet(TypedDict):
    """The public keys of the instance."""

    #: The keys, newest first.
    keys: List[EvidenceKey]


class _EvidenceVerificationRequired(TypedDict):
    #: Whether a key of this instance signed the statement.
    valid: bool
    #: The key.
    key_id: str
    #: active or retired; empty if the key is unknown.
    key_status: str


class EvidenceVerification(_EvidenceVerificationRequired, total=False):
    """What the verification of an envelope found."""

    #: The statement; absent if the signature is not valid.
    statement: Dict[str, Any]


class EvidenceEnvelopeInput(TypedDict):
    """A signed statement: a DSSE envelope around an in-toto statement."""

    #: The type of the payload; it is part of what is signed.
    payload_type: str
    #: The statement as canonical JSON, in base64.
    payload: str
    #: The signatures.
    signatures: Sequence[EvidenceSignatureInput]


class EvidenceSignatureInput(TypedDict):
    """A signature of an envelope."""

    #: The id of the key.
    keyid: str
    #: The 64 bytes of the Ed25519 signature, in base64.
    sig: str
