/**
 * Artifacts: versions of pools as promotions activate them.
 *
 * routing: strategy, config and rules of a pool. strategy: its strategy and selection alone.
 */
export { createPoolArtifacts } from "./pool-artifacts.ts";
