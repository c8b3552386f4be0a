/**
 * What an expression may cost. Every bound is on something that is counted, never on the clock, so that the same
 * expression over the same values ends in the same way on every machine.
 *
 * A step is what a node of a comprehension costs, 20 to 100 ns on a 2-core development machine; whatever takes longer
 * counts as more. All steps together take 0.5 to 2.5 ms there: an evaluation cannot be interrupted, so it has to fit into a
 * slice of the event loop.
 */
export const LIMITS = {
  /** Length of the source in UTF-8. */
  sourceBytes: 4_096,
  /** Nodes of the syntax tree. */
  nodes: 2_000,
  /** Nesting of the syntax tree; a chain of `&&` or of `||` counts as one level. */
  depth: 100,
  /** Elements of one list literal, or entries of one map literal. */
  literalElements: 500,
  /** Arguments of one call. */
  callArguments: 32,
  /** Work of one evaluation. */
  steps: 25_000,
  /** Length, in UTF-16 units, of a string that an evaluation builds. */
  stringLength: 65_536,
  /** Nesting of values that are compared or answered. */
  valueDepth: 64,
  /** Uses of `matches` in one expression: every one keeps up to 100 KB. */
  patterns: 10,
  /** Length of one regular expression. */
  patternLength: 256,
  /** Instructions that the regular expressions written in one expression may compile to, together. */
  patternInstructions: 600,
  /** Character classes in those that are slow to build: Unicode classes, and wide ranges that ignore case. */
  patternWideClasses: 12,
  /** Length, in UTF-16 units, of a text that is matched. */
  matchedLength: 65_536,
} as const;
