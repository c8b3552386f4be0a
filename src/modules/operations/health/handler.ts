import { create } from "@bufbuild/protobuf";
import {
  GetOperationalHealthReportResponseSchema,
  ListOperationalHealthScopesResponseSchema,
  type OperationalHealthService as Rpc,
} from "../../../../gen/service/api/operational_health_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { fromReport } from "./report-message.ts";
import type { HealthEnvironment, HealthService } from "./service.ts";

/** Creates the handlers of OperationalHealthService. */
export function healthHandlers(service: HealthService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async getOperationalHealthReport(context, { environment, period }) {
      const report = await service.getReport(context, environment, period);
      return create(GetOperationalHealthReportResponseSchema, { report: fromReport(report) });
    },

    async listOperationalHealthScopes(context, request) {
      const { tenantId, principal, operation } = context;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [principal.environmentMode] },
        (environment: HealthEnvironment) => environment.id,
        (wanted) => service.listScopes(context, wanted),
      );
      const scopes = page.items.map(({ id, key }) => ({ tenantId, environmentId: id, environment: key }));
      return create(ListOperationalHealthScopesResponseSchema, { ...page, scopes });
    },
  };
}
