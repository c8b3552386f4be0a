import type { Frame } from "../plan/frame.ts";
import { BOOL, DYN, INT, LIST, MAP, OPTIONAL, STRING } from "../syntax/static-type.ts";
import { mapSize } from "../values/equality.ts";
import { Failure, listLength, NONE, Optional, type Value } from "../values/values.ts";
import { CONVERSIONS } from "./conversions.ts";
import { type FunctionTable, type Overload, overload } from "./overload.ts";
import { TEXT_FUNCTIONS, textSize } from "./text-functions.ts";
import { TIME_FUNCTIONS } from "./time-functions.ts";

const SIZE: readonly Overload[] = [
  overload([STRING], INT, textSize),
  overload([LIST], INT, (_frame, _at, list: object) => BigInt(listLength(list))),
  overload([MAP], INT, (frame: Frame, _at, map: object) => BigInt(mapSize(frame, map))),
];

const OPTIONAL_FUNCTIONS: FunctionTable = {
  "optional.of": [overload([DYN], OPTIONAL, (_frame, _at, value: Value) => new Optional(value))],
  "optional.none": [overload([], OPTIONAL, () => NONE)],
  ".hasValue": [overload([OPTIONAL], BOOL, (_frame, _at, optional: Optional) => optional.value !== undefined)],
  ".value": [
    overload([OPTIONAL], DYN, (_frame, at, optional: Optional) =>
      optional.value === undefined ? new Failure("the optional has no value", at) : optional.value,
    ),
  ],
};

/** All functions except `matches`, the macros, `or` and `orValue`, which need more than their arguments' values. */
export const FUNCTIONS: ReadonlyMap<string, readonly Overload[]> = new Map(
  Object.entries({
    size: SIZE,
    ".size": SIZE,
    ...CONVERSIONS,
    ...TEXT_FUNCTIONS,
    ...TIME_FUNCTIONS,
    ...OPTIONAL_FUNCTIONS,
  }),
);
