import { type Command, Option } from "commander";
import { type Operation, readOperations } from "../../definitions/index.ts";
import { commonOptions } from "../connection/common-options.ts";
import type { Io } from "../io.ts";
import type { CallOptions } from "./call-operation.ts";
import { nounMeaning, operationDescription, operationSummary } from "./operation-help.ts";
import { operationNaming, pluralOf } from "./operation-names.ts";
import { type FieldOption, fieldOptions, pathArguments } from "./operation-options.ts";
import type { Given } from "./request-json.ts";

/**
 * Adds a command for every operation in the definitions; two that claim one name stop the start.
 *
 * Only commands whose first word is `wanted` get their arguments and options: a command line needs those of one among
 * hundreds.
 */
export function addOperationCommands(
  program: Command,
  io: Io,
  end: (exitCode: number) => void,
  wanted: (word: string) => boolean,
): void {
  const operations = readOperations();
  const nameOf = operationNaming(operations);
  const byNoun = Map.groupBy(operations, (operation) => nameOf(operation).noun);
  const add = (parent: Command, operation: Operation, isWanted: boolean) => {
    const command = parent.command(nameOf(operation).verb).summary(operationSummary(operation));
    command.description(operationDescription(operation));
    if (!isWanted) return;
    addOperation(command, operation, async (given, options) => {
      const { callOperation } = await import("./call-operation.ts");
      end(await callOperation(io, operation, given, { ...program.opts(), ...options }));
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
    if (known === undefined) group.description(nounMeaning(noun, commands, operations));
    for (const operation of commands) add(group, operation, wanted(noun) || wanted(plural));
  }
}

type Action = (given: Given, options: CallOptions) => Promise<void>;

function addOperation(command: Command, operation: Operation, action: Action): void {
  const path = pathArguments(operation);
  const fields = fieldOptions(operation);
  for (const { argument } of path) command.addArgument(argument);
  for (const { options } of fields) for (const option of options) command.addOption(option);
  const ours = addOurOptions(command, operation, fields);
  command.action(() => {
    const given = command.opts();
    const { data, ...options } = Object.fromEntries(
      ours.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
    );
    return action({ path, pathTexts: command.args, fields, options: given, data }, options as CallOptions);
  });
}

/**
 * Adds the options that are not fields of the request; answers with their names.
 *
 * The request's own fields come first: an option of ours by the same name can still be given before the command.
 */
function addOurOptions(command: Command, operation: Operation, fields: readonly FieldOption[]): string[] {
  const taken = new Set(fields.map(({ flag }) => flag));
  const free = (options: readonly Option[]) => options.filter(({ long }) => !taken.has(long!));
  const ofCall = free(callOptions(operation, fields));
  const common = free(commonOptions());
  for (const option of ofCall) command.addOption(option);
  command.optionsGroup("Common options:");
  for (const option of common) command.addOption(option);
  return [...ofCall, ...common].map((option) => option.attributeName());
}

function callOptions({ governance, bindings, method }: Operation, fields: readonly FieldOption[]): Option[] {
  const { verb, body } = bindings[0]!;
  const options: Option[] = [];
  if (body !== "" && fields.length > 0) {
    options.push(new Option("--data <json>", "The whole request; other options win. @file or - reads it."));
  }
  if (governance.mutating) {
    options.push(new Option("--idempotency-key <key>", "Makes repeats of this command safe; a fresh one when absent."));
  }
  if ((verb === "PATCH" || verb === "PUT") && method.input.field.recordVersion !== undefined) {
    options.push(new Option("--if-match <version>", "Only if the record still has this version."));
  }
  return options;
}
