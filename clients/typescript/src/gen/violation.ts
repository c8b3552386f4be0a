// Generated from the definitions; do not edit.
/** A violated rule of a field. */
export type Violation = {
  /** The path of the field within the item, such as `requirements.skills["welding"]`. */
  readonly field: string;
  /** The rule, such as "string.max_len". */
  readonly rule: string;
  /** What is allowed, for people. */
  readonly message: string;
};
