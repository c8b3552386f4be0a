import type { DescField, Message } from "@bufbuild/protobuf";
import type { RenamedField } from "../definitions/index.ts";

/**
 * Fields of a read record that a caller sends back, besides those that the update changes. A caller may read a record,
 * edit it and send it back whole; fields that it must not edit have to be unchanged.
 */
export interface ReturnedFields {
  /** A message of the record's type with the values that the caller sent. */
  readonly record: Message;
  /** The fields that the caller sent. */
  readonly fields: readonly DescField[];
  /** Those that the update changes under another name. */
  readonly moved: readonly (RenamedField & { readonly field: DescField })[];
}
