import type { HistoryService as Rpc } from "../../../../gen/service/api/history_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { modeAllows, requireEnvironmentId } from "../../../platform/access/index.ts";
import type { HistorySource } from "../../history-source.ts";
import { rangeOf } from "./history-range.ts";
import { currentPart } from "./history-recorder.ts";
import { readMarks, readPoints } from "./history-store.ts";

export function historyHandlers(sources: () => readonly HistorySource[]): Handlers<typeof Rpc> {
  return {
    async getHistory(context, request) {
      const { sql, tenantId, nowMs, principal } = context;
      if (request.environmentId !== "" && (request.source !== "pool" || request.sourceId !== "")) {
        throw invalid("environment_id", "environment", "must be empty, unless source is pool and source_id is empty");
      }
      const { kind, resolve, visible, sample } = sources().find((each) => each.kind === request.source)!;
      const id = request.sourceId === "" ? "" : await resolve(context, request.sourceId);
      const environmentId = await requireEnvironmentId(context, request.environmentId);
      const range = rangeOf(request.range, nowMs);
      const ids = id === "" ? visible(context, environmentId) : sql`values (${id}::text)`;
      const [points, marks] = await Promise.all([
        readPoints(sql, tenantId, kind, ids, range, sample === undefined ? currentPart(nowMs) : undefined),
        readMarks(sql, tenantId, range.since, { ofPools: kind === "pool", poolId: id, environmentId }),
      ]);
      return {
        history: {
          ...{ source: kind, sourceId: id, start: range.since, stepS: range.pointMinutes * 60 },
          points,
          marks: marks.filter(({ inProduction }) => modeAllows(principal.environmentMode, inProduction)),
        },
      };
    },
  };
}
