import { correctOperation } from "../../chain/corrections.ts";
import type { Operation } from "../../definitions/index.ts";
import type { Violation } from "../../errors/index.ts";
import { writeCommand } from "../../gateway/docs/samples/shell-samples.ts";
import { applyPatch, isSecret } from "../../platform/corrections/index.ts";
import type { CommandInput, RequestJson } from "./command-input.ts";

type CorrectionPatch = Parameters<typeof applyPatch>[1];

const commandCharactersMax = 2000;

/** The options without which the command would make another call. The key is never printed. */
const keptOptions: Readonly<Record<string, string>> = {
  ...{ profile: "profile", address: "address", plane: "plane" },
  ...{ ifMatch: "if_match", idempotencyKey: "idempotency_key" },
};

/** The command of a request that the definition refuses, with its corrections; undefined if there are none. */
export function correctedCommandOf(
  operation: Operation,
  input: CommandInput,
  json: RequestJson,
  violations: readonly Violation[],
): string | undefined {
  const corrections = correctOperation(operation, { json, violations, isRest: true });
  return correctedCommand(
    operation,
    input,
    json,
    corrections.map(({ patch }) => patch),
  );
}

/** The command of a request with the patches of its corrections; undefined if it cannot be shown. */
export function correctedCommand(
  operation: Operation,
  input: CommandInput,
  json: RequestJson,
  patches: readonly CorrectionPatch[],
): string | undefined {
  if (patches.length === 0) return undefined;
  let corrected: RequestJson;
  try {
    corrected = patches.reduce((document, patch) => applyPatch(document, patch) as RequestJson, json);
  } catch {
    return undefined;
  }
  const body: RequestJson = {};
  for (const { name } of input.path) body[name] = corrected[name];
  for (const { field, flag, options } of input.fields) {
    const value = corrected[field.name];
    if (value === undefined) continue;
    const given = input.options[options[0]!.attributeName()];
    const isSource = typeof given === "string" && /^(?:@|-$)/.test(given);
    if (isSecret(field) && !isSource) return undefined;
    body[flag.slice(2).replaceAll("-", "_")] = isSecret(field) ? given : value;
  }
  for (const [option, name] of Object.entries(keptOptions)) {
    const given = input.callOptions[option];
    if (given === undefined) continue;
    // A field has the flag.
    if (name in body) return undefined;
    body[name] = given;
  }
  const { path } = operation.bindings[0]!;
  const shown = { verb: "", path, body: "*", command: input.command, result: "json" } as const;
  const text = writeCommand(shown, { path: {}, query: {}, body });
  return text === undefined || text.length > commandCharactersMax ? undefined : text.replaceAll(" \\\n  ", " ");
}
