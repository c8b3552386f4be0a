import type { ExplainService as Rpc } from "../../../../gen/service/api/explain_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { ExplainService } from "./service.ts";

export function explainHandlers(service: ExplainService): Handlers<typeof Rpc> {
  return {
    async explain(context, question) {
      const explanation = await service.explain(context, question);
      const steps = explanation.steps.map((step) => ({ subject: "", ...step }));
      const links = explanation.links.map((link) => ({ explainable: false, ...link }));
      return { explanation: { ...explanation, steps, links } };
    },
  };
}
