/**
 * The limits of an expression. They count work instead of time, so that an expression has the same result on every machine.
 *
 * A step is the cost of a node in a comprehension, 20 to 100 ns on a 2-core development machine. Slower operations count as
 * several steps. The limit of all steps takes 0.5 to 2.5 ms there: an evaluation cannot be interrupted, so it must fit into a
 * slice of the event loop.
 */
export const LIMITS = {
  /** Length of the source in bytes of UTF-8. */
  sourceBytes: 4_096,
  /** Nodes of the syntax tree. */
  nodes: 2_000,
  /** Depth of the syntax tree; a chain of `&&` or `||` counts as one level. */
  depth: 100,
  /** Elements of one list literal, or entries of one map literal. */
  literalElements: 500,
  callArguments: 32,
  /** Steps of one evaluation. */
  steps: 25_000,
  /** Length, in UTF-16 units, of a string that is created by an evaluation. */
  stringLength: 65_536,
  /** Depth of values that are compared or returned. */
  valueDepth: 64,
  /** Uses of `matches` in one expression. Each retains up to 100 KB. */
  patterns: 10,
  /** Length of one regular expression. */
  patternLength: 256,
  /** Instructions of all literal regular expressions of one expression together. */
  patternInstructions: 600,
  /** Their character classes that are slow to build: Unicode classes, and wide case-insensitive ranges. */
  patternWideClasses: 12,
  /** Length, in UTF-16 units, of a text that is matched against a pattern. */
  matchedLength: 65_536,
} as const;
