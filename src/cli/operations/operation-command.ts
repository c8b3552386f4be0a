import { type Command, Option } from "commander";
import type { CommandEntry } from "../../../gen/commands.ts";
import { type Operation, operationOf } from "../../definitions/operation.ts";
import { commonOptions } from "../connection/common-options.ts";
import type { Io } from "../io.ts";
import type { CallOptions } from "./call-operation.ts";
import type { CommandInput } from "./command-input.ts";
import { operationDescription, operationSummary } from "./operation-help.ts";
import { type Describe, type FieldOption, fieldOptions, pathArguments } from "./operation-options.ts";

/** Reads the operations of an entry with these ids from their definitions. */
export async function operationsOf({ services }: CommandEntry, ids: ReadonlySet<string>): Promise<Operation[]> {
  return (await services()).flatMap((service) =>
    service.methods
      .filter(({ name }) => ids.has(`${service.typeName}/${name}`))
      .map((method) => operationOf(service, method)),
  );
}

/** Describes a command and adds the arguments and options of its operation. */
export function completeCommand(
  program: Command,
  command: Command,
  operation: Operation,
  describe: Describe | undefined,
  io: Io,
  end: (exitCode: number) => void,
): void {
  command.summary(operationSummary(operation, describe)).description(operationDescription(operation, describe));
  addOperation(command, operation, describe, async (input, options) => {
    const { callOperation } = await import("./call-operation.ts");
    const callOptions = { ...program.opts(), ...options };
    end(await callOperation(io, operation, { ...input, callOptions }, callOptions));
  });
}

type Action = (input: CommandInput, options: CallOptions) => Promise<void>;

function addOperation(command: Command, operation: Operation, describe: Describe | undefined, action: Action): void {
  const path = pathArguments(operation, describe);
  const fields = fieldOptions(operation, describe);
  for (const { argument } of path) command.addArgument(argument);
  for (const { options } of fields) for (const option of options) command.addOption(option);
  const optionNames = addCallOptions(command, operation, fields);
  command.action(() => {
    const values = command.opts();
    const { data, ...options } = Object.fromEntries(
      optionNames.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
    );
    const words = [command.parent, command].map((each) => each?.name()).filter((word) => word !== "service");
    const input = {
      ...{ path, pathTexts: command.args, fields, options: values, callOptions: options },
      ...{ data, command: words.join(" ") },
    };
    return action(input, options as CallOptions);
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
