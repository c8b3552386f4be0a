import type { OperationObject } from "../openapi/index.ts";

/** An operation with its HTTP method and path. */
export interface PathOperation {
  readonly verb: string;
  readonly path: string;
  readonly operation: OperationObject;
}
