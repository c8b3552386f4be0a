import type { Operation } from "../definitions/index.ts";

/** Where an operation stands among the commands: `service tenant get-quota` has the noun tenant, the verb get-quota. */
export interface OperationName {
  readonly noun: string;
  readonly verb: string;
}

/**
 * Makes the rule that names commands after methods.
 *
 * A method's name is a verb and a phrase: GetTenantQuota. The noun is the record that the phrase names first, Tenant;
 * all other words, in their order, are the verb: get-quota. A record is a message with an id or a key; a plural names
 * it too. A phrase without a record is the noun as a whole, and a method without a phrase has its service for a noun.
 */
export function operationNaming(operations: readonly Operation[]): (operation: Operation) => OperationName {
  const records = new Set(
    operations.flatMap(({ service }) =>
      service.file.messages.filter(({ field }) => field.id ?? field.key).map(({ name }) => name),
    ),
  );
  // Requests that name a record by its key are no records.
  for (const name of records) if (/(Request|Response)$/.test(name)) records.delete(name);

  return ({ method, service, paging, streaming }) => {
    const [first, ...phrase] = wordsOf(method.name);
    const found = firstRecord(phrase, records);
    if (found !== undefined) {
      const rest = [first!, ...phrase.slice(0, found.start), ...phrase.slice(found.end)];
      return { noun: kebab(wordsOf(found.record)), verb: kebab(rest) };
    }
    if (phrase.length === 0) phrase.push(...wordsOf(service.name.replace(/Service$/, "")));
    else if (paging !== undefined || streaming) phrase.push(singular(phrase.pop()!));
    return { noun: kebab(phrase), verb: kebab([first!]) };
  };
}

/** The record that stands first among words, the longest one where several start there. */
function firstRecord(words: readonly string[], records: ReadonlySet<string>) {
  for (let start = 0; start < words.length; start++) {
    for (let end = words.length; end > start; end--) {
      const before = words.slice(start, end - 1).join("");
      const last = words[end - 1]!;
      const record = [before + last, before + singular(last)].find((name) => records.has(name));
      if (record !== undefined) return { record, start, end };
    }
  }
  return undefined;
}

function wordsOf(name: string): string[] {
  return name.match(/[A-Z][a-z0-9]*/g) ?? [name];
}

function singular(word: string): string {
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(ss|sh|ch|x)es$/.test(word)) return word.slice(0, -2);
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}

function kebab(words: readonly string[]): string {
  return words.map((word) => word.toLowerCase()).join("-");
}
