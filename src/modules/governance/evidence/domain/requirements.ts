import { appliesTo, type ReceiptType, type SubjectKind, subjectKinds } from "./subject.ts";

/** Whether an environment is live or a sandbox. */
export type EnvironmentKind = "live" | "sandbox";

/** A requirement: artifacts of a kind need a valid receipt of a type. */
export interface Requirement {
  /** Stable: the kind and the type. */
  readonly id: string;
  readonly kind: SubjectKind;
  readonly receiptType: ReceiptType;
  /** The age at which a receipt is stale. */
  readonly maxAgeS: number;
  /** Whether the receipt must name the promotion. */
  readonly perCandidate: boolean;
  readonly description: string;
}

/** Requirements that a pack adds to those of the table. */
export interface Demands {
  readonly requiredTypes: readonly ReceiptType[];
  /** The age at which receipts are stale, if it is less than the requirement's; 0 for no further limit. */
  readonly maxAgeS: number;
  /** The producers whose receipts count; empty for all. */
  readonly acceptedProducers: readonly string[];
}

/** The version of the table below. It rises with every change of the table. */
export const requirementsVersion = 1;

/** The required checks by mode of the environment and kind of artifact. */
const table: Readonly<Record<EnvironmentKind, Readonly<Record<SubjectKind, readonly ReceiptType[]>>>> = {
  live: {
    routing: ["scenario", "runtime", "canary"],
    workflow: ["scenario", "graph", "runtime", "canary"],
    connector: ["connector", "runtime", "canary"],
    strategy: ["scenario", "strategy", "canary"],
  },
  sandbox: {
    routing: ["scenario"],
    workflow: ["scenario", "graph"],
    connector: ["connector"],
    strategy: ["strategy"],
  },
};

const dayS = 86_400;

/** The meaning of each type of check, and how long its result is valid. */
const types: Readonly<Record<ReceiptType, { readonly maxAgeS: number; readonly shows: string }>> = {
  scenario: { maxAgeS: 7 * dayS, shows: "Recorded scenarios give the expected results." },
  connector: { maxAgeS: 7 * dayS, shows: "The provider accepts the configuration and the actions." },
  strategy: { maxAgeS: 7 * dayS, shows: "The strategy chooses as it should on recorded items." },
  runtime: { maxAgeS: 7 * dayS, shows: "The instance passes the conformance suites." },
  graph: { maxAgeS: 7 * dayS, shows: "Every step can be reached, and every run can end." },
  proof: { maxAgeS: 7 * dayS, shows: "The service keeps its promises while nodes and connections break." },
  canary: { maxAgeS: dayS, shows: "A share of live traffic was served without harm." },
};

/** The requirements of some kinds of artifacts in an environment, with the demands of a pack, ordered by id. */
export function expandRequirements(
  mode: EnvironmentKind,
  kinds: readonly SubjectKind[],
  demands: Pick<Demands, "requiredTypes" | "maxAgeS"> = { requiredTypes: [], maxAgeS: 0 },
): Requirement[] {
  return subjectKinds
    .filter((kind) => kinds.includes(kind))
    .flatMap((kind) => {
      const demanded = demands.requiredTypes.filter((type) => appliesTo(type, kind));
      return [...new Set([...table[mode][kind], ...demanded])].map((type) =>
        requirementOf(kind, type, demands.maxAgeS),
      );
    })
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

function requirementOf(kind: SubjectKind, receiptType: ReceiptType, limitS: number): Requirement {
  const { maxAgeS, shows } = types[receiptType];
  return {
    id: `${kind}.${receiptType}`,
    kind,
    receiptType,
    maxAgeS: limitS > 0 ? Math.min(limitS, maxAgeS) : maxAgeS,
    perCandidate: receiptType === "canary",
    description: shows,
  };
}
