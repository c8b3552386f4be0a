import { commandEntries } from "../../../gen/commands.ts";
import { methodNames, propertyOf } from "../../definitions/client-names.ts";
import type { Operation } from "../../definitions/index.ts";
import type { OpenApiDocument, OperationObject } from "../openapi/index.ts";
import { isHttpBody } from "../openapi/schemas/well-known.ts";
import type { SampledOperation } from "./samples/sampled-operation.ts";

/** An operation at one HTTP method and path of the document. */
export interface DescribedOperation {
  readonly object: OperationObject;
  readonly sampled: SampledOperation;
  /** Undefined for an endpoint of the gateway itself. */
  readonly operation: Operation | undefined;
}

/** Joins the operations of a document with their definitions. */
export function describeOperations(document: OpenApiDocument, operations: readonly Operation[]): DescribedOperation[] {
  const commands = new Map(
    commandEntries.flatMap(({ word, isGroup, verbs }) =>
      Object.entries(verbs).map(([id, verb]) => [id, isGroup ? `${word} ${verb}` : word]),
    ),
  );
  const bound = new Map(
    operations.flatMap((operation) =>
      operation.bindings.map((binding, index) => [
        `${binding.verb} ${binding.path.replace(/=[^}]*\}/g, "}")}`,
        { operation, binding, index },
      ]),
    ),
  );
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([lowerVerb, object]): DescribedOperation => {
      const verb = lowerVerb.toUpperCase();
      const found = bound.get(`${verb} ${path}`);
      if (found === undefined) return { object, sampled: { verb, path, result: "raw" }, operation: undefined };
      const { operation, binding, index } = found;
      const { id, method, service, rawBodyBytesMax } = operation;
      // The command line and the client use the first path.
      const names =
        index === 0
          ? { command: commands.get(id), call: `${propertyOf(service)}.${methodNames(service).get(method.name)}` }
          : {};
      const body = binding.body === "" ? undefined : binding.body;
      const isRaw = rawBodyBytesMax !== undefined || undefined;
      return { object, sampled: { verb, path, body, isRaw, ...names, result: resultOf(operation) }, operation };
    }),
  );
}

function resultOf({ method, paging, streaming, streamsBytes, bindings }: Operation): SampledOperation["result"] {
  if (paging !== undefined) return "list";
  const data = method.output.fields.find(({ name }) => name === bindings[0]!.responseBody)?.message ?? method.output;
  if (streamsBytes || isHttpBody(data)) return "raw";
  return streaming ? "stream" : "json";
}
