const token =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;

/** What may come next in JSON text. */
type Expected = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma or ]" | "comma or }" | "end";

/**
 * Finds where JSON text stops being JSON; undefined when it is JSON throughout.
 *
 * Only used on text that JSON.parse refused: its messages name a place only sometimes, and quote the input.
 */
export function locateError(text: string): number | undefined {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  token.lastIndex = 0;
  for (;;) {
    const start = token.lastIndex;
    const match = token.exec(text);
    if (match === null) {
      const at = afterSpace(text, start);
      return at === text.length && expected === "end" ? undefined : at;
    }
    const next = step(expected, match[1] ?? (match[2] === undefined ? "scalar" : "string"), open);
    if (next === undefined) return afterSpace(text, start);
    expected = next;
  }
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (" \t\n\r".includes(text.charAt(at)) && at < text.length) at++;
  return at;
}

/** What is expected after a token, undefined when the token is not expected. Keeps the open brackets. */
function step(expected: Expected, found: string, open: ("{" | "[")[]): Expected | undefined {
  switch (expected) {
    case "value":
    case "value or ]":
      if (found === "{" || found === "[") {
        open.push(found);
        return found === "{" ? "key or }" : "value or ]";
      }
      if (found === "string" || found === "scalar") return afterValue(open);
      return found === "]" && expected === "value or ]" ? closed(open) : undefined;
    case "key":
    case "key or }":
      if (found === "string") return "colon";
      return found === "}" && expected === "key or }" ? closed(open) : undefined;
    case "colon":
      return found === ":" ? "value" : undefined;
    case "comma or ]":
      if (found === ",") return "value";
      return found === "]" ? closed(open) : undefined;
    case "comma or }":
      if (found === ",") return "key";
      return found === "}" ? closed(open) : undefined;
    default:
      return undefined;
  }
}

function closed(open: ("{" | "[")[]): Expected {
  open.pop();
  return afterValue(open);
}

function afterValue(open: readonly ("{" | "[")[]): Expected {
  const last = open.at(-1);
  if (last === undefined) return "end";
  return last === "{" ? "comma or }" : "comma or ]";
}
