/** The parts of an operation that determine its command. */
export interface NamedOperation {
  readonly method: { readonly name: string };
  readonly service: {
    readonly name: string;
    readonly file: { readonly messages: readonly { readonly name: string; readonly field: RecordFields }[] };
  };
  /** The command in the definition; "" if it is derived from the method's name. */
  readonly command: string;
}

/** The fields that make a message a record, if it has them. */
interface RecordFields {
  readonly id?: unknown;
  readonly key?: unknown;
}

/** The command of an operation: `service tenant get-quota` has the noun tenant and the verb get-quota. */
export interface OperationName {
  /** Undefined for a one-word command: `service route`. */
  readonly noun: string | undefined;
  readonly verb: string;
}

/**
 * Creates the function that derives command names from method names. A definition may set the command explicitly.
 *
 * A method name is a verb and a phrase: GetTenantQuota. The noun is the first record in the phrase: Tenant. All other
 * words, in order, are the verb: get-quota. A record is a message with an id or a key; its plural counts too. If the
 * phrase contains no record but starts with the service's name, that is the noun: GetQueueStatus is `queue get-status`.
 * Otherwise the whole phrase, in the singular, is the noun.
 */
export function createCommandNaming(
  operations: readonly NamedOperation[],
): (operation: NamedOperation) => OperationName {
  const records = new Set(
    operations.flatMap(({ service }) =>
      service.file.messages.filter(({ field }) => field.id ?? field.key).map(({ name }) => name),
    ),
  );
  // Requests with a key are not records.
  for (const name of records) if (/(Request|Response)$/.test(name)) records.delete(name);

  return ({ method, service, command }) => {
    if (command !== "") return nameOf(command);
    const [first, ...phrase] = wordsOf(method.name);
    const subject = wordsOf(service.name.replace(/Service$/, ""));
    const found = firstRecord(phrase, records) ?? subjectOf(phrase, subject);
    if (found !== undefined) {
      const rest = [first!, ...phrase.slice(0, found.start), ...phrase.slice(found.end)];
      return { noun: kebab(wordsOf(found.record)), verb: kebab(rest) };
    }
    if (phrase.length === 0) return { noun: kebab(subject), verb: kebab([first!]) };
    return { noun: kebab([...phrase.slice(0, -1), singular(phrase.at(-1)!)]), verb: kebab([first!]) };
  };
}

/** Formats the command of an operation as typed. */
export function formatCommand({ noun, verb }: OperationName): string {
  return noun === undefined ? verb : `${noun} ${verb}`;
}

/** The plural of a noun, an alias of the same group of commands. */
export function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(s|sh|ch|x)$/.test(noun) ? `${noun}es` : `${noun}s`;
}

function nameOf(command: string): OperationName {
  const [first, ...rest] = command.split(" ");
  return rest.length === 0 ? { noun: undefined, verb: first! } : { noun: first, verb: rest.join("-") };
}

/** The service's name at the start of a phrase. */
function subjectOf(phrase: readonly string[], subject: readonly string[]) {
  const begins = subject.every((word, at) => phrase[at] === word);
  return begins ? { record: subject.join(""), start: 0, end: subject.length } : undefined;
}

/** The first record among the words; the longest one if several start at the same word. */
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
