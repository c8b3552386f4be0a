/**
 * A PostgreSQL pattern for templates that include a partial, also where their text is part of a JSON document. It may match
 * a comment too: a partial that is only mentioned is kept.
 */
export function partialUsePattern(key: string): string {
  return `(\\{\\{~?>\\s*|\\{%-?\\s*render\\s+\\\\?["'])${key}(?![a-z0-9_-])`;
}
