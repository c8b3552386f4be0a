export type * from "./domain/language/definition.ts";
