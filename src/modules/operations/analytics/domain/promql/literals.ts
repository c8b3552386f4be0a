const simpleEscapes: Readonly<Record<string, string>> = {
  ...{ a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" },
  ...{ "\\": "\\", "'": "'", '"': '"' },
};

const escapeSequence =
  /\\(?:([abfnrtv\\'"])|x([0-7][0-9A-Fa-f])|([0-1][0-7]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]|$))/g;

/** Reads a string in quotes or backticks. Escapes of single bytes beyond ASCII are not supported. */
export function readString(text: string): string | undefined {
  const quote = text[0];
  // The grammar accepts a string without its closing quote.
  if (text.length < 2 || text.at(-1) !== quote) return undefined;
  const inner = text.slice(1, -1);
  if (quote === "`") return inner.isWellFormed() ? inner : undefined;
  let isValid = true;
  const value = inner.replace(escapeSequence, (_, simple, hex, octal, short, long, other) => {
    if (simple !== undefined) return simpleEscapes[simple]!;
    const code =
      other === undefined ? Number.parseInt(hex ?? octal ?? short ?? long, octal === undefined ? 16 : 8) : -1;
    if (code >= 0 && code <= 0x10ffff) return String.fromCodePoint(code);
    isValid = false;
    return "";
  });
  return isValid && value.isWellFormed() ? value : undefined;
}

/** Writes a string in quotes, so that nothing in it can end it. */
export function writeString(value: string): string {
  const escaped = value.replace(/[\\"]/g, "\\$&").replace(/\p{Cc}/gu, (control) => {
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const hexadecimal = /^[+-]?0[xX][0-9A-Fa-f]+$/;
const special = /^([+-]?)(inf|nan)$/i;

/** Reads a number. Durations as numbers and underscores in numbers are newer than what all stores understand. */
export function readNumber(text: string): number | undefined {
  const compact = text.replace(/^([+-])\s+/, "$1");
  if (decimal.test(compact)) return Number(compact);
  if (hexadecimal.test(compact)) {
    const magnitude = Number(compact.replace(/^[+-]/, ""));
    return compact.startsWith("-") ? -magnitude : magnitude;
  }
  const named = special.exec(compact);
  if (named === null) return undefined;
  if (named[2]!.toLowerCase() === "nan") return Number.NaN;
  return named[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

export function writeNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Inf" : "(-Inf)";
  return value < 0 || Object.is(value, -0) ? `(-${Math.abs(value)})` : String(value);
}

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 };
const duration = /^(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?$/;

/** Reads a duration such as `1h30m`, in milliseconds. */
export function readDurationMs(text: string): number | undefined {
  if (text === "" || !duration.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|[smhdwy])/g))
    ms += Number(count) * units[unit as keyof typeof units];
  return ms;
}

export function writeDurationMs(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
