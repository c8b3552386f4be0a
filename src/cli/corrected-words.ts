import { quoted } from "../gateway/docs/samples/shell-samples.ts";
import { isGuardedField, isGuardedVerb } from "../platform/corrections/index.ts";

const suggestion = /unknown (?:option|command) '([^']+)'\s+\(Did you mean (\S+)\?\)/;
const secretOption = /^--?[\w-]*(?:key|secret|token|password)/;

/**
 * The command line with the option or the command that the parser suggests instead of a mistyped one. Undefined if it suggests none,
 * and where a correction could widen access, spend, delete or show a secret.
 */
export function correctWords(argv: readonly string[], message: string): string | undefined {
  const [, mistyped, meant] = suggestion.exec(message) ?? [];
  if (mistyped === undefined || meant === undefined) return undefined;
  const at = argv.findIndex((word) => word === mistyped || word.startsWith(`${mistyped}=`));
  if (at === -1) return undefined;
  const words = argv.with(at, meant + argv[at]!.slice(mistyped.length));
  const isGuarded = isGuardedField([meant.replace(/^-+/, "")]) || words.some(isGuardedVerb);
  if (isGuarded || words.some((word) => secretOption.test(word))) return undefined;
  return ["service", ...words.map(quoted)].join(" ");
}
