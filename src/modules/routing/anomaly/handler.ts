import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Anomaly as AnomalyMessage,
  AnomalySchema,
  GetAnomalyResponseSchema,
  ListAnomaliesResponseSchema,
  type AnomalyService as Rpc,
} from "../../../../gen/service/api/anomaly_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { type Anomaly, toWireActions } from "./domain/anomaly.ts";
import { anomalyStore } from "./store.ts";

export function anomalyHandlers(cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async listAnomalies(context, request) {
      const { sql, tenantId, principal } = context;
      const { poolId, recipientId, method } = request;
      const filter = { environmentMode: principal.environmentMode, poolId, recipientId, method };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: context.operation.id, filter: Object.values(filter) },
        (anomaly: Anomaly) => anomaly.id,
        (wanted) => anomalyStore(sql).list(tenantId, filter, wanted),
      );
      return create(ListAnomaliesResponseSchema, { ...page, anomalies: page.items.map(fromAnomaly) });
    },

    async getAnomaly({ sql, tenantId, principal }, { anomalyId }) {
      const anomaly = await anomalyStore(sql).find(tenantId, anomalyId, principal.environmentMode);
      if (anomaly === undefined) throw notFound("anomaly");
      return create(GetAnomalyResponseSchema, { anomaly: fromAnomaly(anomaly) });
    },
  };
}

function fromAnomaly(anomaly: Anomaly): AnomalyMessage {
  const { detectedAt, ...rest } = anomaly;
  return create(AnomalySchema, {
    ...rest,
    actions: toWireActions(anomaly),
    detectedAt: timestampFromDate(detectedAt),
  });
}
