import type { Context } from "../../../chain/call.ts";
import { covers } from "../../../platform/access/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import type { ExplainedKind, Explainer, Question, RecordExplanation } from "../../explainer.ts";

/** The explanation of everything that has an id. */
export interface CombinedExplanation extends RecordExplanation {
  readonly id: string;
  readonly kinds: readonly ExplainedKind[];
}

/** The use case of explanations. */
export type ExplainService = ReturnType<typeof createExplainService>;

/** Creates the use case. Explainers are in the order in which their records come into being. */
export function createExplainService(explainers: () => readonly Explainer[]) {
  return {
    async explain(context: Context, question: Question): Promise<CombinedExplanation> {
      const permitted = explainers().filter(({ scope }) => covers(context.principal.scopes, scope));
      const explained = await Promise.all(
        permitted.map(async (explainer) => ({
          kind: explainer.kind,
          explanation: await explainer.explain(context, question),
        })),
      );
      const found = explained.flatMap(({ kind, explanation }) =>
        explanation === undefined ? [] : [{ kind, explanation }],
      );
      if (found.length === 0) throw notFound("record that can be explained");
      return combine(question.id, found);
    },
  };
}

/** A decision and its queue item share an id, so both explain it. The later record has the current status. */
function combine(
  id: string,
  found: readonly { readonly kind: ExplainedKind; readonly explanation: RecordExplanation }[],
): CombinedExplanation {
  const all = found.map(({ explanation }) => explanation);
  const links = new Map(all.flatMap((each) => each.links.map((link) => [`${link.relation} ${link.path}`, link])));
  return {
    id,
    kinds: found.map(({ kind }) => kind),
    status: all.at(-1)!.status,
    summary: all.map(({ summary }) => summary).join(" "),
    steps: all.flatMap(({ steps }) => steps),
    waits: all.flatMap(({ waits }) => waits),
    remedies: [...new Set(all.flatMap(({ remedies }) => remedies))],
    links: [...links.values()],
  };
}
