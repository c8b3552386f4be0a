import { type Failure, fail } from "../../errors/index.ts";

/** The failure of a conditional update: the record does not exist, or has another version than expected. */
export function updateRefusal(current: { readonly recordVersion: number } | undefined, name: string): Failure {
  if (current === undefined) return notFound(name);
  return fail("VERSION_CONFLICT", {
    public: `The ${name} is at version ${current.recordVersion} now.`,
    extra: { current_record_version: current.recordVersion },
  });
}

/** Returns the record for an update without changes. An expected version must equal the current one. */
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

/** Advice for finding records whose names are easily confused. */
const findingAdvice = new Map([["environment", " GET /api/v2/environments lists them with their ids."]]);

/** The failure for a record that the tenant does not have, even if another tenant has it. */
export function notFound(name: string): Failure {
  return fail("NOT_FOUND", { public: `No such ${name}.${findingAdvice.get(name) ?? ""}`, missing: name });
}

/** Returns the record that was looked up, or throws NOT_FOUND. */
export function requireFound<T>(record: T | undefined, name: string): T {
  if (record === undefined) throw notFound(name);
  return record;
}
