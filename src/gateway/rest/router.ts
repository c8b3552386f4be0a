import { parseTemplate } from "./template.ts";

/** The target of a method and a path. */
export interface Match<T> {
  readonly target: T;
  /** Field paths with the text of their segments, still percent-encoded. */
  readonly variables: readonly (readonly [string, string])[];
}

/** Finds targets by HTTP method and path. */
export interface Router<T> {
  find(httpVerb: string, path: string): Match<T> | { readonly allow: readonly string[] } | undefined;
}

interface Entry<T> {
  readonly target: T;
  readonly names: readonly string[];
  readonly template: string;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  variable: Node<T> | undefined;
  /** Entries that end here, by custom verb, then by HTTP method. */
  readonly ends: Map<string, Map<string, Entry<T>>>;
}

/** Builds a trie of path templates. Throws if two templates match the same path. */
export function createRouter<T>(routes: Iterable<{ verb: string; path: string; target: T }>): Router<T> {
  const root = newNode<T>();
  for (const { verb: httpVerb, path, target } of routes) {
    const { segments, verb } = parseTemplate(path);
    let node = root;
    const names: string[] = [];
    for (const segment of segments) {
      if ("literal" in segment) {
        const child = node.literals.get(segment.literal) ?? newNode();
        node.literals.set(segment.literal, child);
        node = child;
      } else {
        names.push(segment.variable);
        node.variable ??= newNode();
        node = node.variable;
      }
    }
    const byHttpVerb = node.ends.get(verb) ?? new Map<string, Entry<T>>();
    node.ends.set(verb, byHttpVerb);
    const claimed = byHttpVerb.get(httpVerb);
    if (claimed !== undefined) throw new Error(`${httpVerb} ${path} and ${claimed.template} have the same path`);
    byHttpVerb.set(httpVerb, { target, names, template: path });
  }

  return {
    find(httpVerb, path) {
      const texts: string[] = [];
      const ends = walk(root, path.slice(1).split("/"), 0, texts, httpVerb);
      if (ends === undefined) return undefined;
      const entry = entryOf(ends, httpVerb);
      if (entry === undefined) return { allow: [...ends.keys()].sort() };
      return { target: entry.target, variables: entry.names.map((name, i) => [name, texts[i]!]) };
    },
  };
}

function newNode<T>(): Node<T> {
  return { literals: new Map(), variable: undefined, ends: new Map() };
}

function entryOf<T>(ends: Map<string, Entry<T>>, httpVerb: string): Entry<T> | undefined {
  return ends.get(httpVerb) ?? (httpVerb === "HEAD" ? ends.get("GET") : undefined);
}

/** Tries literals before variables. `texts` collects the variable segments of the matching branch. */
function walk<T>(
  node: Node<T>,
  parts: readonly string[],
  at: number,
  texts: string[],
  httpVerb: string,
): Map<string, Entry<T>> | undefined {
  const part = parts[at]!;
  if (at === parts.length - 1) return end(node, part, texts, httpVerb);
  const child = node.literals.get(part);
  const found = child && walk(child, parts, at + 1, texts, httpVerb);
  if (found !== undefined) return found;
  if (node.variable === undefined || part === "") return undefined;
  texts.push(part);
  const deeper = walk(node.variable, parts, at + 1, texts, httpVerb);
  if (deeper === undefined) texts.pop();
  return deeper;
}

function end<T>(node: Node<T>, part: string, texts: string[], httpVerb: string): Map<string, Entry<T>> | undefined {
  const whole = node.literals.get(part)?.ends.get("");
  if (whole !== undefined) return whole;
  const colon = part.lastIndexOf(":");
  if (colon > 0) {
    const verb = part.slice(colon + 1);
    const stem = part.slice(0, colon);
    const literal = node.literals.get(stem)?.ends.get(verb);
    if (literal !== undefined) return literal;
    const variable = node.variable?.ends.get(verb);
    if (variable !== undefined && verb !== "") {
      texts.push(stem);
      return variable;
    }
  }
  const plain = part === "" ? undefined : node.variable?.ends.get("");
  // An unknown custom verb is no operation. If the HTTP method matches, the whole segment may be an id with a colon.
  if (colon > 0 && plain !== undefined && entryOf(plain, httpVerb) === undefined) return undefined;
  if (plain !== undefined) texts.push(part);
  return plain;
}
