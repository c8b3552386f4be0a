import { commandEntries } from "../../gen/commands.ts";
import { pluralOf } from "./operations/operation-names.ts";

/**
 * The API command that the first words of a command line mean, if they are in another order or joined: `list pools`,
 * `pool-list`, `pools:list`.
 */
export function suggestCommand(argv: readonly string[]): string | undefined {
  const [first = "", second = ""] = argv.filter((each) => each !== "help" && !each.startsWith("-"));
  const joined = first.replaceAll(/[^a-z]+/g, "-");
  for (const { word, verbs, isGroup } of commandEntries) {
    if (!isGroup) continue;
    const nouns = [word, pluralOf(word)];
    for (const verb of Object.values(verbs)) {
      const isReversed = first === verb && nouns.includes(second);
      if (isReversed || nouns.some((noun) => joined === `${noun}-${verb}` || joined === `${verb}-${noun}`)) {
        return `service ${word} ${verb}`;
      }
    }
  }
  return undefined;
}
