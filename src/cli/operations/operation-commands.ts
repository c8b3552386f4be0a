import { type Command, Option } from "commander";
import { type Operation, readOperations } from "../../definitions/index.ts";
import { commonOptions } from "../connection/common-options.ts";
import type { Io } from "../io.ts";
import type { CallOptions } from "./call-operation.ts";
import { describeNoun, operationDescription, operationSummary } from "./operation-help.ts";
import { createCommandNaming, pluralOf } from "./operation-names.ts";
import { type FieldOption, fieldOptions, pathArguments } from "./operation-options.ts";
import type { CommandInput } from "./request-json.ts";

/**
 * Adds a command for every operation in the definitions. Two operations with the same command name are an error.
 *
 * Only commands whose first word is `wanted` get arguments and options: a command line uses one of hundreds of commands.
 */
export function addOperationCommands(
  program: Command,
  io: Io,
  end: (exitCode: number) => void,
  wanted: (word: string) => boolean,
): void {
  const operations = readOperations();
  const nameOf = createCommandNaming(operations);
  const byNoun = Map.groupBy(operations, (operation) => nameOf(operation).noun);
  const add = (parent: Command, operation: Operation, isWanted: boolean) => {
    const command = parent.command(nameOf(operation).verb).summary(operationSummary(operation));
    command.description(operationDescription(operation));
    if (!isWanted) return;
    addOperation(command, operation, async (input, options) => {
      const { callOperation } = await import("./call-operation.ts");
      end(await callOperation(io, operation, input, { ...program.opts(), ...options }));
    });
  };
  for (const [noun, commands] of byNoun) {
    if (noun === undefined) {
      for (const operation of commands) add(program, operation, wanted(nameOf(operation).verb));
      continue;
    }
    const plural = pluralOf(noun);
    const known = program.commands.find((each) => each.name() === noun);
    const group = known ?? program.command(noun).alias(plural).helpCommand(false);
    if (known === undefined) group.description(describeNoun(noun, commands, operations));
    for (const operation of commands) add(group, operation, wanted(noun) || wanted(plural));
  }
}

type Action = (input: CommandInput, options: CallOptions) => Promise<void>;

function addOperation(command: Command, operation: Operation, action: Action): void {
  const path = pathArguments(operation);
  const fields = fieldOptions(operation);
  for (const { argument } of path) command.addArgument(argument);
  for (const { options } of fields) for (const option of options) command.addOption(option);
  const optionNames = addCallOptions(command, operation, fields);
  command.action(() => {
    const values = command.opts();
    const { data, ...options } = Object.fromEntries(
      optionNames.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
    );
    return action({ path, pathTexts: command.args, fields, options: values, data }, options as CallOptions);
  });
}

/**
 * Adds the options that are not request fields. Returns their names.
 *
 * Request fields take precedence. A common option with the same name can still be set before the command.
 */
function addCallOptions(command: Command, operation: Operation, fields: readonly FieldOption[]): string[] {
  const taken = new Set(fields.map(({ flag }) => flag));
  const free = (options: readonly Option[]) => options.filter(({ long }) => !taken.has(long!));
  const ofCall = free(callOptions(operation, fields));
  const common = free(commonOptions());
  for (const option of ofCall) command.addOption(option);
  command.optionsGroup("Common options:");
  for (const option of common) command.addOption(option);
  return [...ofCall, ...common].map((option) => option.attributeName());
}

function callOptions({ acceptsIdempotencyKey, bindings, method }: Operation, fields: readonly FieldOption[]): Option[] {
  const { verb, body } = bindings[0]!;
  const options: Option[] = [];
  if (body !== "" && fields.length > 0) {
    options.push(
      new Option(
        "--data <json>",
        "Complete request as JSON; other options override its fields. @file reads a file, - reads stdin.",
      ),
    );
  }
  if (acceptsIdempotencyKey) {
    options.push(new Option("--idempotency-key <key>", "Key that makes retries safe (default: a new key)."));
  }
  if ((verb === "PATCH" || verb === "PUT") && method.input.field.recordVersion !== undefined) {
    options.push(new Option("--if-match <version>", "Update only if the record still has this version."));
  }
  return options;
}
