import { readOperations } from "../../definitions/index.ts";
import { buildOpenApi } from "./build.ts";
import type { OpenApiDocument, OperationObject } from "./document.ts";

export const testInput = {
  servers: {
    production: "https://api.switchyard.test",
    staging: "https://staging.switchyard.test",
    local: "http://127.0.0.1:8080",
  },
  errorsUrl: "https://api.switchyard.test/errors",
  version: "2024-01-01",
};

/** Builds the document of the real definitions. */
export function testDocument(): OpenApiDocument {
  return buildOpenApi({ ...testInput, operations: readOperations() });
}

/** Every operation of a document with its HTTP method and path. */
export function operationsIn(document: OpenApiDocument): { verb: string; path: string; operation: OperationObject }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => ({ verb, path, operation })),
  );
}
