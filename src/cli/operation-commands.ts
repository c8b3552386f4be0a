import { type Command, Option } from "commander";
import { commentOf } from "../definitions/comments.ts";
import { type Operation, readOperations } from "../definitions/index.ts";
import { type CallOptions, callOperation } from "./call-operation.ts";
import { commonOptions } from "./common-options.ts";
import { firstSentence } from "./first-sentence.ts";
import type { Io } from "./io.ts";
import { operationNaming } from "./operation-names.ts";
import { type FieldOption, fieldOptions, type PathArgument, pathArguments } from "./operation-options.ts";

/** Adds a command for every operation in the definitions; two that claim one name stop the start. */
export function addOperationCommands(program: Command, io: Io, end: (exitCode: number) => void): void {
  const operations = readOperations();
  const nameOf = operationNaming(operations);
  for (const operation of operations) {
    const { noun, verb } = nameOf(operation);
    const known = program.commands.find((each) => each.name() === noun);
    const group =
      known ??
      program
        .command(noun)
        .description(meaningOf(noun, operation, operations))
        .helpCommand(false);
    addOperation(group, verb, operation, program, io, end);
  }
}

/** What a noun stands for: the record of that name, or else what its service is about. */
function meaningOf(noun: string, { service }: Operation, operations: readonly Operation[]): string {
  const records = operations.flatMap((each) => each.service.file.messages);
  const record = records.find(({ name }) => name.toLowerCase() === noun.replaceAll("-", ""));
  return (record && commentOf(record)) || commentOf(service);
}

function addOperation(
  group: Command,
  verb: string,
  operation: Operation,
  program: Command,
  io: Io,
  end: (exitCode: number) => void,
): void {
  const path = pathArguments(operation);
  const fields = fieldOptions(operation);
  const command = group.command(verb).summary(summaryOf(operation)).description(descriptionOf(operation));
  for (const { argument } of path) command.addArgument(argument);
  addOptions(command, operation, fields);
  command.action(async () => {
    const options = { ...program.opts(), ...command.opts() };
    // Where a field of the request has the name of an option of ours, the option is not offered here.
    for (const { flag, options: own } of fields) {
      if (isCommon(flag)) options[own[0]!.attributeName()] = program.opts()[own[0]!.attributeName()];
    }
    end(await callOperation(io, operation, givenOf(command, path, fields), options as CallOptions));
  });
}

function givenOf(command: Command, path: readonly PathArgument[], fields: readonly FieldOption[]) {
  const options = command.opts();
  const data = fields.some(({ flag }) => flag === "--data") ? undefined : (options.data as string | undefined);
  return { path, pathTexts: command.args, fields, options, data };
}

/** A request's own fields come first; options of ours that would clash with them are left to the place before the command. */
function addOptions(command: Command, operation: Operation, fields: readonly FieldOption[]): void {
  const taken = new Set(fields.map(({ flag }) => flag));
  const free = (options: readonly Option[]) => options.filter(({ long }) => !taken.has(long!));
  for (const { options } of fields) for (const option of options) command.addOption(option);
  for (const option of free(callOptions(operation, fields))) command.addOption(option);
  command.optionsGroup("Common options:");
  for (const option of free(commonOptions())) command.addOption(option);
}

const commonFlags = new Set(commonOptions().map(({ long }) => long));

function isCommon(flag: string): boolean {
  return commonFlags.has(flag);
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

function summaryOf({ method, governance }: Operation): string {
  const notes: string[] = [];
  if (governance.deprecation !== undefined) notes.push("(deprecated)");
  if (governance.internalOnly) notes.push("(internal plane)");
  return [firstSentence(commentOf(method)), ...notes].join(" ");
}

function descriptionOf(operation: Operation): string {
  const { method, governance, scopes } = operation;
  const lines = [commentOf(method)];
  if (governance.deprecation !== undefined) lines.push("Deprecated: it will go away.");
  if (governance.internalOnly) lines.push("Only on the internal plane, with a service token as the key.");
  const needs = [...scopes, ...governance.roles.map((role) => `role ${role}`)];
  if (needs.length > 0) lines.push(`Needs ${needs.join(", ")}.`);
  return lines.join("\n\n");
}
