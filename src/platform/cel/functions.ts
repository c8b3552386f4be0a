import { CONVERSIONS } from "./conversions.ts";
import { mapSize } from "./equality.ts";
import type { Frame } from "./frame.ts";
import { type FunctionTable, type Overload, overload } from "./overload.ts";
import { BOOL, DYN, INT, LIST, MAP, OPTIONAL, STRING } from "./static-type.ts";
import { TEXT_FUNCTIONS, textSize } from "./text-functions.ts";
import { TIME_FUNCTIONS } from "./time-functions.ts";
import { Failure, listLength, NONE, Optional, type Value } from "./values.ts";

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

/** Every function; `matches`, the macros, `or` and `orValue`, which do not just compute from values, are planned apart. */
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
