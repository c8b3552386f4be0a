/** The kinds of artifacts that are promoted. */
export const subjectKinds = ["routing", "workflow", "connector", "strategy"] as const;

/** A kind of artifact that is promoted. */
export type SubjectKind = (typeof subjectKinds)[number];

/** The kind of a check. A receipt has exactly one. */
export type ReceiptType = "scenario" | "connector" | "strategy" | "runtime" | "graph" | "proof" | "canary";

/** The subject of evidence: an artifact at an exact digest. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** The digest of what the artifact replaces; empty if the evidence does not depend on it. */
  readonly baseSha256: string;
}

/** The checks that make sense for each kind of artifact. */
const typesByKind: Readonly<Record<SubjectKind, readonly ReceiptType[]>> = {
  routing: ["scenario", "strategy", "runtime", "proof", "canary"],
  workflow: ["scenario", "runtime", "graph", "proof", "canary"],
  connector: ["scenario", "connector", "runtime", "proof", "canary"],
  strategy: ["scenario", "strategy", "runtime", "proof", "canary"],
};

/** Whether a check of this type can be about an artifact of this kind. */
export function appliesTo(type: ReceiptType, kind: SubjectKind): boolean {
  return typesByKind[kind].includes(type);
}

/** Whether two subjects are the same artifact, at any digest. */
export function isSameArtifact(
  one: Pick<Subject, "kind" | "name">,
  other: { readonly kind: string; readonly name: string },
): boolean {
  return one.kind === other.kind && one.name === other.name;
}
