/**
 * Explain: one answer about a record of any kind: what happened, why, and what it waits for.
 *
 * explainer: explains the records of one kind, implemented by the area that owns them. step: something that happened. wait:
 * something that has to happen first. remedy: what would help. link: a related record.
 */
import type { Explainer } from "../../explainer.ts";
import { explainHandlers } from "./handler.ts";
import { createExplainService } from "./service.ts";

/** Creates the module. The explainers of other areas are composed later. */
export function createExplain(explainers: () => readonly Explainer[]) {
  return { handlers: explainHandlers(createExplainService(explainers)) };
}
