/** What an expression may name: each root variable and its type. "map" = JSON object (dyn values), "any" = dyn. */
export type CelType = "bool" | "int" | "double" | "string" | "timestamp" | "list" | "map" | "any";

/** The root variables of an expression. */
export type CelVariables = Readonly<Record<string, CelType>>;
