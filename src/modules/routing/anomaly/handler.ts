import type { AnomalyService as Rpc } from "../../../../gen/service/api/anomaly_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { notFound } from "../../../platform/db/index.ts";
import { type Anomaly, toWireActions } from "./domain/anomaly.ts";
import { anomalyStore } from "./store.ts";

export function anomalyHandlers(): Handlers<typeof Rpc> {
  return {
    async listAnomalies(context, request) {
      const { sql, tenantId, principal } = context;
      const { poolId, recipientId, method, environmentId } = request;
      const filter = { environmentMode: principal.environmentMode, poolId, recipientId, method, environmentId };
      const page = await context.page("anomalies", request, Object.values(filter), (wanted) =>
        anomalyStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, anomalies: page.anomalies.map(fromAnomaly) };
    },

    async getAnomaly({ sql, tenantId, principal }, { anomalyId }) {
      const anomaly = await anomalyStore(sql).find(tenantId, anomalyId, principal.environmentMode);
      if (anomaly === undefined) throw notFound("anomaly");
      return { anomaly: fromAnomaly(anomaly) };
    },
  };
}

const fromAnomaly = (anomaly: Anomaly) => ({ ...anomaly, actions: toWireActions(anomaly) });
