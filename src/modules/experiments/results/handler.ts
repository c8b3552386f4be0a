import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ExportExperimentResultsResponseSchema,
  GetExperimentHistoryResponseSchema,
  GetExperimentResultsResponseSchema,
  type ExperimentService as Rpc,
} from "../../../../gen/service/api/experiment_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { exportResults } from "./export.ts";
import { fromResults } from "./result-message.ts";
import { resultService } from "./service.ts";

export function resultHandlers(): Pick<
  Handlers<typeof Rpc>,
  "getExperimentResults" | "getExperimentHistory" | "exportExperimentResults"
> {
  return {
    async getExperimentResults(context, { experimentId }) {
      const results = fromResults(await resultService.getResults(context, experimentId));
      return create(GetExperimentResultsResponseSchema, { results });
    },

    async getExperimentHistory(context, { experimentId }) {
      const points = await resultService.getHistory(context, experimentId);
      const history = {
        points: points.map(({ at, point: { verdict, units, mature, comparisons } }) => ({
          at: timestampFromDate(at),
          ...{ verdict, units: BigInt(units), matureUnits: BigInt(mature) },
          comparisons: comparisons.map(({ variant, metric, difference, interval, lift, liftInterval, p }) => ({
            ...{ variant, metric, difference: difference ?? undefined, interval: interval ?? undefined },
            ...{ lift: lift ?? undefined, liftInterval: liftInterval ?? undefined, pValue: p ?? undefined },
          })),
        })),
      };
      return create(GetExperimentHistoryResponseSchema, { history } as never);
    },

    async exportExperimentResults(context, { experimentId, format }) {
      const results = await resultService.getResults(context, experimentId);
      return create(ExportExperimentResultsResponseSchema, {
        export: exportResults(results, format === "json" ? "json" : "csv"),
      });
    },
  };
}
