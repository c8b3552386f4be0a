import { create } from "@bufbuild/protobuf";
import { ExplainResponseSchema, type ExplainService as Rpc } from "../../../../gen/service/api/explain_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { optionalTime } from "../../../platform/records/index.ts";
import type { ExplainService } from "./service.ts";

export function explainHandlers(service: ExplainService): Handlers<typeof Rpc> {
  return {
    async explain(context, { id, about }) {
      const explanation = await service.explain(context, { id, about });
      return create(ExplainResponseSchema, {
        explanation: {
          ...{ id, kinds: [...explanation.kinds], status: explanation.status, summary: explanation.summary },
          steps: explanation.steps.map(({ at, ...step }) => ({ ...step, at: optionalTime(at) })),
          waits: explanation.waits.map(({ since, until, ...wait }) => ({
            ...wait,
            since: optionalTime(since),
            until: optionalTime(until),
          })),
          remedies: [...explanation.remedies],
          links: explanation.links.map((link) => ({ ...link })),
        },
      });
    },
  };
}
