import type { Run } from "./run.ts";

/** The named arguments of a helper or filter. */
export type Named = Readonly<Record<string, unknown>>;

/** A helper or filter; the value that it applies to is the first argument. */
export type Helper = (run: Run, args: readonly unknown[], named: Named) => unknown;
