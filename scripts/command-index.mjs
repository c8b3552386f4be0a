// Generates the index of the API commands, so that a command line reads only the definitions of its own command.
import { commandSummary } from "../src/cli/operations/command-summary.ts";
import { createCommandNaming } from "../src/cli/operations/operation-names.ts";

/** The source of gen/commands.ts, from the files of a buf image and the comments by full name. */
export function commandIndex(files, comments) {
  const operations = operationsOf(files);
  const nameOf = createCommandNaming(operations);
  const byWord = Map.groupBy(operations, (operation) => nameOf(operation).noun ?? nameOf(operation).verb);
  const entries = [...byWord].map(([word, commands]) => {
    const isGroup = nameOf(commands[0]).noun !== undefined;
    const description = isGroup
      ? describeGroup(word, commands, operations, comments)
      : describeCommand(commands[0], comments);
    const verbs = commands.map((each) => [each.id, nameOf(each).verb]);
    return `  {
    word: ${JSON.stringify(word)},
    description: ${JSON.stringify(description)},
    isGroup: ${isGroup},
    verbs: ${JSON.stringify(Object.fromEntries(verbs))},
    services: () => Promise.all([${servicesOf(commands).join(", ")}]),
  },`;
  });
  return `// Generated from the definitions; do not edit.
import type { DescService } from "@bufbuild/protobuf";

/** The API commands that start with the same word. */
export interface CommandEntry {
  readonly word: string;
  readonly description: string;
  /** Whether a verb follows the word; otherwise the word is the whole command. */
  readonly isGroup: boolean;
  /** The last word of the command of each operation. */
  readonly verbs: Readonly<Record<string, string>>;
  /** Loads the services of the operations. */
  readonly services: () => Promise<readonly DescService[]>;
}

/** Every API command. */
export const commandEntries: readonly CommandEntry[] = [
${entries.join("\n")}
];
`;
}

/** The operations of an image, in the order of the files' names. */
function operationsOf(files) {
  const ofApi = files.filter(({ name }) => name.startsWith("service/api/"));
  return ofApi
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((file) => {
      const messages = (file.messageType ?? []).map((message) => {
        const names = new Set((message.field ?? []).map(({ name }) => name));
        const field = { ...(names.has("id") && { id: true }), ...(names.has("key") && { key: true }) };
        return { name: message.name, fullName: `${file.package}.${message.name}`, field, fields: message.field ?? [] };
      });
      return (file.service ?? []).flatMap(({ name, method: methods }) =>
        methods.map(({ name: method, options, outputType }) => ({
          id: `${file.package}.${name}/${method}`,
          method: { name: method },
          service: { name, fullName: `${file.package}.${name}`, file: { path: file.name, messages } },
          command: options["[service.options.command]"] ?? "",
          options,
          output: messages.find(({ fullName }) => `.${fullName}` === outputType),
        })),
      );
    });
}

/** Expressions that load the services of operations. */
function servicesOf(commands) {
  const services = new Map(commands.map(({ service }) => [service.fullName, service]));
  return [...services.values()].map(({ name, file }) => {
    const path = `./${file.path.replace(".proto", "_pb.ts")}`;
    return `import(${JSON.stringify(path)}).then((file) => file.${name})`;
  });
}

function describeCommand({ id, options }, comments) {
  return commandSummary(comments[id.replace("/", ".")], options["[service.options.governance]"]);
}

/**
 * Describes a group of commands: with the comment of the record of that name, of the service of that name, or of the
 * records that its commands list.
 */
function describeGroup(noun, commands, all, comments) {
  const plain = noun.replaceAll("-", "");
  const messages = all.flatMap(({ service }) => service.file.messages);
  const named = messages.find(({ name }) => name.toLowerCase() === plain);
  if (named !== undefined) return comments[named.fullName];
  const ofService = commands.find(({ service }) => service.name.toLowerCase() === `${plain}service`);
  if (ofService !== undefined) return comments[ofService.service.fullName];
  const list = commands.find(({ output }) => output?.fields.some(({ name }) => name === "next_page_token"));
  const listed = list?.output.fields.find(({ label, type }) => label === "LABEL_REPEATED" && type === "TYPE_MESSAGE");
  return comments[listed?.typeName.slice(1) ?? commands[0].service.fullName];
}
