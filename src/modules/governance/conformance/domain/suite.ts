/** A case as callers see it: one guarantee and what it needs. */
export interface CaseDescription {
  /** Stable: reports of different builds are compared by it. */
  readonly id: string;
  readonly guarantee: string;
  /** The ids of the capabilities that it needs. */
  readonly capabilities: readonly string[];
  /** Whether it changes nothing and is part of dry runs. */
  readonly dryRun: boolean;
}

/** A suite: the cases of one surface. */
export interface SuiteDescription<C extends CaseDescription = CaseDescription> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Raised whenever its cases change. */
  readonly version: number;
  readonly cases: readonly C[];
}
