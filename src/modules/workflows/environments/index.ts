/**
 * Environments: finds the environment of a call to the workflow modules, and checks that the caller may use it.
 */
export { createEnvironments, type Environments, type UsableEnvironment } from "./environment-lookup.ts";
