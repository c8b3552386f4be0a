import { type Failure, fail } from "../../errors/index.ts";

/** Why a conditional update changed nothing: the record is not there, or no longer at the version that was named. */
export function updateRefusal(current: { readonly recordVersion: number } | undefined, name: string): Failure {
  if (current === undefined) return notFound(name);
  return fail("VERSION_CONFLICT", {
    public: `The ${name} is at version ${current.recordVersion} now.`,
    extra: { current_record_version: current.recordVersion },
  });
}

/** The refusal for a record that this caller has not got, whether or not another tenant has it. */
export function notFound(name: string): Failure {
  return fail("NOT_FOUND", { public: `No such ${name}.` });
}
