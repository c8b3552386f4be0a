export type { Action, Effect, KeyPlace, Mutation } from "./language/action.ts";

/** Whether an action can be executed. Only `executable` actions are callable. */
export type RuntimeStatus = "executable" | "catalog_only" | "deprecated" | "unconfigured" | "disabled";
