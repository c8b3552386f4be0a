/**
 * Explain: one answer about a record of any kind: what happened, why, and what it waits for.
 *
 * explainer: explains the records of one kind, implemented by the area that owns them. step: something that happened. wait:
 * something that has to happen first. remedy: what would help. link: a related record.
 */
import type { ExplainService as Rpc } from "../../../../gen/service/api/explain_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { covers } from "../../../platform/access/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import type { ExplainedKind, Explainer, RecordExplanation } from "../../explainer.ts";

/** Creates the module. The explainers of other areas are composed later, in the order in which their records come into being. */
export function createExplain(explainers: () => readonly Explainer[]) {
  const handlers: Handlers<typeof Rpc> = {
    async explain(context, question) {
      const permitted = explainers().filter(({ scope }) => covers(context.principal.scopes, scope));
      const explained = await Promise.all(
        permitted.map(async ({ kind, explain }) => ({ kind, explanation: await explain(context, question) })),
      );
      const found = explained.flatMap(({ kind, explanation }) =>
        explanation === undefined ? [] : [{ kind, ...explanation }],
      );
      if (found.length === 0) throw notFound("record that can be explained");
      return { explanation: { id: question.id, ...combine(found) } };
    },
  };
  return { handlers };
}

/** A decision and its queue item share an id, so both explain it. The later record has the current status. */
function combine(all: readonly (RecordExplanation & { readonly kind: ExplainedKind })[]) {
  const links = new Map(all.flatMap((each) => each.links.map((link) => [`${link.relation} ${link.path}`, link])));
  return {
    kinds: all.map(({ kind }) => kind),
    status: all.at(-1)!.status,
    summary: all.map(({ summary }) => summary).join(" "),
    steps: all.flatMap(({ steps }) => steps.map((step) => ({ subject: "", result: "", values: null, ...step }))),
    waits: all.flatMap(({ waits }) => waits),
    remedies: [...new Set(all.flatMap(({ remedies }) => remedies))],
    links: [...links.values()].map((link) => ({ explainable: false, ...link })),
  };
}
