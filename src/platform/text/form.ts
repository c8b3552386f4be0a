/** A form with more members is not one of a browser or a provider. */
const membersMax = 1000;

/**
 * The names and values of a form (application/x-www-form-urlencoded) in their order; undefined if it has too many. It takes linear
 * time. URLSearchParams takes seconds for a megabyte of names without values.
 */
export function parseForm(text: string): [name: string, value: string][] | undefined {
  // One more than allowed is enough to know.
  const pairs = text.split("&", membersMax + 1);
  if (pairs.length > membersMax) return undefined;
  const present = pairs.filter((pair) => pair !== "");
  return present.map((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? [decode(pair), ""] : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))];
  });
}

function decode(part: string): string {
  const spaced = part.replaceAll("+", " ");
  return spaced.includes("%") ? new URLSearchParams(`=${spaced}`).get("")! : spaced;
}
