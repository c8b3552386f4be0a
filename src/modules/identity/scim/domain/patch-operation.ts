/** One operation of a PATCH request. */
export interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  /** Undefined if the value names the attributes. */
  readonly path: string | undefined;
  readonly value: unknown;
}
