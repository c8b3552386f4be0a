import type { Frame } from "../plan/frame.ts";
import type { StaticType } from "../syntax/static-type.ts";
import type { Value } from "../values/values.ts";

/** The implementation of a function: the evaluation, the offset of the call, and the arguments, with a method's receiver first. */
export type Call = (frame: Frame, at: number, ...args: never[]) => Value;

/** One signature of a function. */
export interface Overload {
  readonly args: readonly StaticType[];
  readonly result: StaticType;
  readonly call: Call;
}

/** Functions by name; the name of a method starts with a dot. */
export type FunctionTable = Readonly<Record<string, readonly Overload[]>>;

export function overload(args: readonly StaticType[], result: StaticType, call: Call): Overload {
  return { args, result, call };
}
