/** Type of an expression's value at one time: a number, series, or series with a window of values. */
export type ValueType = "scalar" | "vector" | "matrix";

interface FunctionSignature {
  readonly parameters: readonly ValueType[];
  /** How many of the last parameters may be left out. */
  readonly optional?: number;
  readonly result: Exclude<ValueType, "matrix">;
}

const ofVector: FunctionSignature = { parameters: ["vector"], result: "vector" };
const ofMatrix: FunctionSignature = { parameters: ["matrix"], result: "vector" };

/** The functions that queries may call. None of them changes labels or reads series that the query does not select. */
export const functions: ReadonlyMap<string, FunctionSignature> = new Map<string, FunctionSignature>([
  ...["abs", "absent", "ceil", "exp", "floor", "ln", "log10", "log2", "sgn", "sqrt", "timestamp"].map(
    (name) => [name, ofVector] as const,
  ),
  ...["absent", "avg", "count", "last", "max", "min", "present", "stddev", "stdvar", "sum"].map(
    (name) => [`${name}_over_time`, ofMatrix] as const,
  ),
  ...["changes", "delta", "deriv", "idelta", "increase", "irate", "rate", "resets"].map(
    (name) => [name, ofMatrix] as const,
  ),
  ["clamp", { parameters: ["vector", "scalar", "scalar"], result: "vector" }],
  ["clamp_max", { parameters: ["vector", "scalar"], result: "vector" }],
  ["clamp_min", { parameters: ["vector", "scalar"], result: "vector" }],
  ["histogram_quantile", { parameters: ["scalar", "vector"], result: "vector" }],
  ["predict_linear", { parameters: ["matrix", "scalar"], result: "vector" }],
  ["quantile_over_time", { parameters: ["scalar", "matrix"], result: "vector" }],
  ["round", { parameters: ["vector", "scalar"], optional: 1, result: "vector" }],
  ["scalar", { parameters: ["vector"], result: "scalar" }],
  ["time", { parameters: [], result: "scalar" }],
  ["vector", { parameters: ["scalar"], result: "vector" }],
]);

/** The aggregations that queries may use, with whether each has a number before its series. */
export const aggregations: ReadonlyMap<string, boolean> = new Map([
  ...["avg", "count", "group", "max", "min", "stddev", "stdvar", "sum"].map((name) => [name, false] as const),
  ...["bottomk", "quantile", "topk"].map((name) => [name, true] as const),
]);

/** The operators between expressions, by the name that the grammar gives them. */
export const operators: ReadonlyMap<string, { readonly symbol: string; readonly family: OperatorFamily }> = new Map(
  (
    [
      ["arithmetic", { Add: "+", Sub: "-", Mul: "*", Div: "/", Mod: "%", Pow: "^" }],
      ["comparison", { Eql: "==", Neq: "!=", Gtr: ">", Lss: "<", Gte: ">=", Lte: "<=" }],
      ["set", { And: "and", Or: "or", Unless: "unless" }],
    ] as const
  ).flatMap(([family, symbols]) =>
    Object.entries(symbols).map(([name, symbol]) => [name, { symbol, family }] as const),
  ),
);

/** Operators compute numbers, compare them, or combine sets of series. */
export type OperatorFamily = "arithmetic" | "comparison" | "set";
