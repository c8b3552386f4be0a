/**
 * A path template in the syntax of google.api.http:
 *
 *   Template = "/" Segment { "/" Segment } [ ":" Verb ]
 *   Segment  = Literal | "{" FieldPath "}"
 *
 * A variable matches one whole segment. The verb follows the last segment.
 */
export interface Template {
  readonly segments: readonly Segment[];
  /** The custom verb, "" for none. */
  readonly verb: string;
}

/** A literal, or the path of the request field that gets the segment's text. */
export type Segment = { readonly literal: string } | { readonly variable: string };

const literal = /^[A-Za-z0-9._~-]+$/;
const variable = /^\{([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*)\}$/;

/** Parses a template. Throws if it does not match the grammar. */
export function parseTemplate(path: string): Template {
  const wrong = () => new Error(`${path} is not a path template`);
  if (!path.startsWith("/")) throw wrong();
  const parts = path.slice(1).split("/");
  const last = parts.at(-1)!;
  const colon = last.lastIndexOf(":");
  const verb = colon < 0 ? "" : last.slice(colon + 1);
  if (colon >= 0) parts[parts.length - 1] = last.slice(0, colon);
  if (colon >= 0 && !literal.test(verb)) throw wrong();
  const segments = parts.map((part): Segment => {
    if (literal.test(part)) return { literal: part };
    const name = variable.exec(part)?.[1];
    if (name === undefined) throw wrong();
    return { variable: name };
  });
  return { segments, verb };
}
