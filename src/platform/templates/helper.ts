import type { Run } from "./run.ts";

/** Values by name, as helpers and filters are given them. */
export type Named = Readonly<Record<string, unknown>>;

/** A helper or filter: the value that it is about comes first. */
export type Helper = (run: Run, args: readonly unknown[], named: Named) => unknown;
