import type { Message } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import { type Correction, Failure, type RefusedInput, type Violation } from "../errors/index.ts";
import { correctedBytesMax, correctRequest, isGuarded, isWithinBytes } from "../platform/corrections/index.ts";
import { createJsonDecoder, createJsonEncoder } from "../platform/protojson/index.ts";
import { createMessageChecker } from "../platform/validation/index.ts";
import type { Call } from "./call.ts";

/** Finds the corrections of a refused request. Nothing is computed for other failures, nor kept for them. */
export function findCorrections(call: Call, failure: Failure): readonly Correction[] {
  const { operation, protocol } = call;
  const { violations } = failure;
  const { input } = operation.method;
  if (failure.code !== "INVALID_ARGUMENT" || violations.length === 0 || isGuardedOperation(operation)) return [];
  const refused = refusedInput(call, failure);
  if (refused === undefined) return [];
  const { json, query } = refused;
  const found = correctRequest({
    desc: input,
    json,
    violations,
    naming: namingOf(protocol),
    otherNames: query?.names ?? [],
    check: query === undefined ? createCheck(call) : (again) => query.check(again as Record<string, unknown>),
  });
  return found.map(({ root, ...correction }) => ({
    ...correction,
    in: query !== undefined ? "query" : protocol === "rest" ? partOf(operation, call.httpMethod, root) : "body",
  }));
}

function namingOf(protocol: Call["protocol"]): "proto" | "json" {
  return protocol === "rest" || protocol === "mcp" || protocol === "scim" ? "proto" : "json";
}

function isGuardedOperation({ method, governance, bindings }: Operation): boolean {
  return isGuarded({
    method: method.name,
    action: governance.action,
    verbs: bindings.map(({ verb }) => verb),
    isDestructive: governance.mcpTool?.destructive === true,
  });
}

/** The JSON that was refused: as it was sent, if the decoder refused it, or that of the message. */
function refusedInput({ operation, message, protocol }: Call, { refused }: Failure): RefusedInput | undefined {
  const { input } = operation.method;
  if (operation.rawBodyBytesMax !== undefined) return undefined;
  if (refused?.type === input.typeName) return isWithinBytes(refused.json, correctedBytesMax) ? refused : undefined;
  if (message === undefined || !isWithinBytes(message, correctedBytesMax)) return undefined;
  return { type: input.typeName, json: JSON.parse(createJsonEncoder(input, namingOf(protocol))(message)) };
}

function createCheck({ operation, protocol }: Call): (json: unknown) => readonly Violation[] {
  const { input } = operation.method;
  const decode = createJsonDecoder(input);
  const validate = createMessageChecker(input);
  const strict = protocol === "rest" || protocol === "mcp";
  return (json) => {
    let message: Message;
    try {
      message = decode(json, { strict });
    } catch (error) {
      if (error instanceof Failure) return error.violations;
      throw error;
    }
    return validate(message)?.violations ?? [];
  };
}

/** The part of a REST request that a field is in. */
function partOf({ bindings }: Operation, verb: string, field: string): Correction["in"] {
  const binding = bindings.find((each) => each.verb === verb) ?? bindings[0]!;
  if (binding.path.includes(`{${field}}`)) return "path";
  return binding.body === "*" ? "body" : "query";
}
