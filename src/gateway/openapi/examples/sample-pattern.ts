/**
 * Creates a short string that matches a pattern, for fields without a better example.
 *
 *   alternatives = sequence *( "|" sequence )
 *   sequence     = *( atom [ quantifier ] )
 *   atom         = literal | "." | "\" escape | "[" class "]" | "(" alternatives ")" | "^" | "$"
 *   quantifier   = "?" | "*" | "+" | "{" min [ "," [ max ] ] "}"
 *
 * Returns undefined if the pattern contains anything else.
 */
export function samplePattern(pattern: string): string | undefined {
  const sample = new Sampler(pattern).alternatives();
  return sample !== undefined && new RegExp(pattern, "u").test(sample) ? sample : undefined;
}

const escapes: Readonly<Record<string, string>> = { d: "0", w: "a", s: " ", n: "\n", t: "\t" };
// The most readable characters come first.
const likely = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./: "];

class Sampler {
  private readonly pattern: string;
  private at = 0;

  constructor(pattern: string) {
    this.pattern = pattern;
  }

  alternatives(): string | undefined {
    const samples = [this.sequence()];
    while (this.take("|")) samples.push(this.sequence());
    return samples.find((sample) => sample !== "" && sample !== undefined) ?? samples[0];
  }

  private sequence(): string | undefined {
    let text = "";
    while (this.at < this.pattern.length && !"|)".includes(this.pattern[this.at]!)) {
      const atom = this.atom();
      if (atom === undefined) return undefined;
      text += atom.repeat(this.count());
    }
    return text;
  }

  private atom(): string | undefined {
    const char = this.pattern[this.at++]!;
    switch (char) {
      case "^":
      case "$":
        return "";
      case ".":
        return "a";
      case "\\": {
        const escaped = this.pattern[this.at++] ?? "";
        return escapes[escaped] ?? escaped;
      }
      case "[":
        return this.charClass();
      case "(": {
        if (this.take("?") && !this.take(":")) return undefined;
        const inner = this.alternatives();
        return this.take(")") ? inner : undefined;
      }
      default:
        return char;
    }
  }

  private charClass(): string | undefined {
    const end = this.pattern.slice(this.at).search(/(?<!\\)\]/) + this.at;
    if (end < this.at) return undefined;
    const matcher = new RegExp(`[${this.pattern.slice(this.at, end)}]`, "u");
    this.at = end + 1;
    return likely.find((char) => matcher.test(char));
  }

  private count(): number {
    if (this.take("?") || this.take("*")) return 0;
    if (this.take("+")) return 1;
    const bounds = /^\{(\d+)(?:,(\d*))?\}/.exec(this.pattern.slice(this.at));
    if (bounds === null) return 1;
    this.at += bounds[0].length;
    return Number(bounds[1]);
  }

  private take(text: string): boolean {
    const found = this.pattern.startsWith(text, this.at);
    if (found) this.at += text.length;
    return found;
  }
}
