import { type Failure, fail } from "../../errors/index.ts";

/** Why a conditional update changed nothing: the record is not there, or no longer at the version that was named. */
export function updateRefusal(current: { readonly recordVersion: number } | undefined, name: string): Failure {
  if (current === undefined) return notFound(name);
  return fail("VERSION_CONFLICT", {
    public: `The ${name} is at version ${current.recordVersion} now.`,
    extra: { current_record_version: current.recordVersion },
  });
}

/** The record as it is, for an update without any change; a version that is named must still be the current one. */
export function unchangedRecord<T extends { readonly recordVersion: number }>(
  current: T | undefined,
  expectedVersion: number | undefined,
  name: string,
): T {
  if (current === undefined || (expectedVersion ?? current.recordVersion) !== current.recordVersion) {
    throw updateRefusal(current, name);
  }
  return current;
}

/** The refusal for a record that this caller has not got, whether or not another tenant has it. */
export function notFound(name: string): Failure {
  return fail("NOT_FOUND", { public: `No such ${name}.` });
}
