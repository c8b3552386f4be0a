import type { OperationObject } from "../openapi/index.ts";

/** An operation with its place in the document. */
export interface PlacedOperation {
  readonly verb: string;
  readonly path: string;
  readonly operation: OperationObject;
}
