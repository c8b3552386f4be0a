import type { TenantId } from "../../../../platform/access/index.ts";
import { digestOfStatement } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { PackStatus } from "./pack-states.ts";
import type { ReceiptHead } from "./receipt.ts";
import type { Demands, EnvironmentKind } from "./requirements.ts";
import { type Subject, type SubjectKind, subjectKinds } from "./subject.ts";

/** An artifact of a pack, addressed by its digest. */
export interface Artifact {
  /** A report supports evidence; nothing is required of it. */
  readonly kind: SubjectKind | "report";
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** 0 if it is not known. */
  readonly sizeBytes: number;
  /** Where the content is kept. Never exported. */
  readonly storageRef: string;
}

/** The attachment of a pack to a promotion, with the pack as it was then. */
export interface Attachment {
  readonly candidateId: string;
  readonly revision: number;
  readonly digest: string;
  readonly attachedAt: Date;
}

export interface Pack extends Stamps, Demands {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly environmentMode: EnvironmentKind;
  readonly name: string;
  readonly description: string;
  readonly status: PackStatus;
  readonly requirementsVersion: number;
  readonly revision: number;
  readonly digest: string;
  readonly attachment: Attachment | undefined;
  readonly archivedAt: Date | null;
  /** The gate after the last change. */
  readonly gateState: "open" | "closed";
}

/** The fields of a pack that its author writes. */
export type PackTexts = Pick<Pack, "name" | "description" | keyof Demands>;

/** The largest number of artifacts of a pack. */
export const artifactsMax = 100;

/** The artifacts that requirements apply to. */
export function subjectsOf(artifacts: readonly Artifact[]): Subject[] {
  return artifacts.flatMap(({ kind, name, version, sha256 }) =>
    isSubjectKind(kind) ? [{ kind, name, version, sha256, baseSha256: "" }] : [],
  );
}

/** Whether artifacts of a kind are promoted. */
function isSubjectKind(kind: string): kind is SubjectKind {
  return (subjectKinds as readonly string[]).includes(kind);
}

/** The digest of a pack at its revision. */
export function packDigest(
  pack: Pick<Pack, "environmentId" | "requirementsVersion" | "revision" | keyof Demands>,
  artifacts: readonly Artifact[],
  receipts: readonly ReceiptHead[],
): string {
  return digestOfStatement({
    environment: pack.environmentId,
    requirements_version: pack.requirementsVersion,
    required_types: pack.requiredTypes,
    max_age_s: pack.maxAgeS,
    accepted_producers: pack.acceptedProducers,
    revision: pack.revision,
    artifacts: sortedArtifacts(artifacts).map(({ kind, name, version, sha256 }) => [kind, name, version, sha256]),
    receipts: receipts.toSorted((one, other) => one.revision - other.revision).map(({ digest }) => digest),
  });
}

/** Artifacts in the order of kind and name. */
function sortedArtifacts(artifacts: readonly Artifact[]): Artifact[] {
  const place = ({ kind, name }: Artifact) => `${kind} ${name}`;
  return artifacts.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
}
