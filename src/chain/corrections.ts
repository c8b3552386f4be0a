import type { Message } from "@bufbuild/protobuf";
import { type Operation, pagingNames, restNameOf } from "../definitions/index.ts";
import { type Correction, Failure, type RefusedInput, type Violation } from "../errors/index.ts";
import {
  correctedBytesMax,
  correctRequest,
  type FoundCorrection,
  isGuarded,
  isWithinBytes,
} from "../platform/corrections/index.ts";
import { createJsonDecoder, createJsonEncoder } from "../platform/protojson/index.ts";
import { createMessageChecker } from "../platform/validation/index.ts";
import type { Call } from "./call.ts";

/** The JSON of a refused request. */
interface RefusedJson extends Pick<RefusedInput, "json" | "checkQuery"> {
  readonly violations: readonly Violation[];
  readonly repairs?: Failure["repairs"];
  /** Whether it has the names and the types of REST, and not those of Connect. */
  readonly isRest: boolean;
}

/** Finds the corrections of a refused call. Nothing is computed for other failures, nor kept for them. */
export function findCorrections(call: Call, failure: Failure): readonly Correction[] {
  const { operation, protocol } = call;
  const { violations } = failure;
  if (failure.code !== "INVALID_ARGUMENT" || violations.length === 0 || protocol === "scim") return [];
  const isRest = protocol === "rest" || protocol === "mcp";
  const refused = refusedInput(call, failure, isRest);
  if (refused === undefined) return [];
  const { json, checkQuery } = refused;
  const { repairs } = failure;
  return correctOperation(operation, { json, checkQuery, violations, repairs, isRest }).map(
    ({ root, ...correction }) => ({
      ...correction,
      in: checkQuery !== undefined ? "query" : protocol === "rest" ? partOf(operation, call.httpMethod, root) : "body",
    }),
  );
}

/** Finds the corrections of the JSON of an operation's request. */
export function correctOperation(operation: Operation, refused: RefusedJson): readonly FoundCorrection[] {
  if (isGuardedOperation(operation)) return [];
  const { json, violations, isRest } = refused;
  const isPaged = isRest && operation.paging?.kind === "cursor";
  const found = correctRequest({
    ...{ desc: operation.method.input, json, violations, repairs: refused.repairs },
    naming: isRest ? "proto" : "json",
    isReading: !operation.governance.mutating,
    otherNames: isPaged ? [...pagingNames.keys()] : [],
    check: createCheck(operation, refused, isPaged),
  });
  return isPaged ? found.map(withRestPagingNames) : found;
}

function createCheck({ method }: Operation, { checkQuery, isRest }: RefusedJson, isPaged: boolean) {
  const decode = createJsonDecoder(method.input);
  const validate = createMessageChecker(method.input);
  return (corrected: unknown): readonly Violation[] => {
    const entries = Object.entries(corrected as Record<string, unknown>);
    const json = isPaged
      ? Object.fromEntries(entries.map(([name, value]) => [pagingNames.get(name) ?? name, value]))
      : (corrected as Record<string, unknown>);
    if (checkQuery !== undefined) return checkQuery(json);
    let message: Message;
    try {
      message = decode(json, { strict: isRest });
    } catch (error) {
      if (error instanceof Failure) return error.violations;
      throw error;
    }
    return validate(message)?.violations ?? [];
  };
}

/** Gives the paging fields of a correction the names that callers know. */
function withRestPagingNames(correction: FoundCorrection): FoundCorrection {
  const patch = correction.patch.map((step) => ({ ...step, path: `/${restNameOf(step.path.slice(1))}` }));
  return { ...correction, field: restNameOf(correction.field), patch };
}

/** Whether the mistakes in the requests of an operation are only named. */
export function isGuardedOperation({ method, governance, bindings }: Operation): boolean {
  return isGuarded({
    method: method.name,
    action: governance.action,
    verbs: bindings.map(({ verb }) => verb),
    isDestructive: governance.mcpTool?.destructive === true,
  });
}

/** The JSON that was refused: as it was sent, if the decoder refused it, or that of the message. */
function refusedInput(
  { operation, message }: Call,
  { refused }: Failure,
  isRest: boolean,
): Omit<RefusedInput, "type"> | undefined {
  const { input } = operation.method;
  if (operation.rawBodyBytesMax !== undefined) return undefined;
  if (refused?.type === input.typeName) return isWithinBytes(refused.json, correctedBytesMax) ? refused : undefined;
  if (message === undefined || !isWithinBytes(message, correctedBytesMax)) return undefined;
  return { json: JSON.parse(createJsonEncoder(input, isRest ? "proto" : "json")(message)) };
}

/** The part of a REST request that a field is in. */
export function partOf({ bindings }: Operation, verb: string, field: string): Correction["in"] {
  const binding = bindings.find((each) => each.verb === verb) ?? bindings[0]!;
  if (binding.path.includes(`{${field}}`)) return "path";
  return binding.body === "*" ? "body" : "query";
}
