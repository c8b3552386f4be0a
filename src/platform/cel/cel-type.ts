import type { StaticType } from "./syntax/static-type.ts";

/** The type of a variable or result. "map" is a JSON object with dynamic values, "any" is CEL's `dyn`. */
export type CelType = "bool" | "int" | "double" | "string" | "timestamp" | "list" | "map" | "any";

/** The root variables of an expression, with their types; `typeOfSchema` gives the type of a value with a JSON Schema. */
export type CelVariables = Readonly<Record<string, CelType | StaticType>>;
