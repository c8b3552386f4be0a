import type { DescField, Message } from "@bufbuild/protobuf";
import type { RenamedField } from "../definitions/index.ts";

/**
 * What a caller sends back of a record that it read, besides the fields that the update changes. A caller may read a record,
 * edit it and send it back whole; what it must not edit has to be unchanged.
 */
export interface ReturnedFields {
  /** A message of the record's type with the values that the caller sent. */
  readonly record: Message;
  /** The fields that the caller sent. */
  readonly fields: readonly DescField[];
  /** Those that the update changes under another name. */
  readonly moved: readonly (RenamedField & { readonly field: DescField })[];
}
