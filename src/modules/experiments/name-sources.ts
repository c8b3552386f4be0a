import { inEnvironment, nameSource } from "../name-source.ts";

/** The names of experiments. */
export const experimentNames = [
  nameSource("experiment", "experiment:read", "experiments", { ...inEnvironment, key: { column: "key" } }),
];
