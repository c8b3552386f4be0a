import type { OperationalHealthService as Rpc } from "../../../../gen/service/api/operational_health_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Signal } from "./domain/evaluation.ts";
import type { Report } from "./domain/report.ts";
import { type ReasonCode, ruleset, rulesetDigest, type SignalRule } from "./domain/ruleset.ts";
import type { HealthService } from "./service.ts";

/** The version of the report's format. */
const reportVersion = "v1";

/** Creates the handlers of OperationalHealthService. */
export function healthHandlers(service: HealthService): Handlers<typeof Rpc> {
  return {
    async getOperationalHealthReport(context, { environment, period }) {
      return { report: fromReport(await service.getReport(context, environment, period)) };
    },

    async listOperationalHealthScopes(context, request) {
      const { tenantId, principal } = context;
      const page = await context.page("scopes", request, [principal.environmentMode], (wanted) =>
        service.listScopes(context, wanted),
      );
      const scopes = page.scopes.map(({ id, key }) => ({ tenantId, environmentId: id, environment: key }));
      return { ...page, scopes };
    },
  };
}

function fromReport({ window: { startMs, endMs }, ...report }: Report) {
  return {
    ...report,
    version: reportVersion,
    reasonCodes: report.codes,
    window: { start: new Date(startMs), end: new Date(endMs), periodS: (endMs - startMs) / 1000 },
    ruleset: { version: ruleset.version, digest: rulesetDigest },
    signals: report.signals.map(fromSignal),
    sources: report.sources.map((source) => ({ ...source, clockSkewMs: source.skewMs })),
    nextSteps: report.codes.map(toNextStep),
    generatedAt: new Date(report.generatedAtMs),
  };
}

function fromSignal({ name, level, code, value, evidence }: Signal) {
  const { title, unit, degradedAt, unhealthyAt, unknownAbove }: SignalRule = ruleset.signals[name];
  return { name, title, level, reasonCode: code ?? "", unit, value, degradedAt, unhealthyAt, unknownAbove, evidence };
}

function toNextStep(code: ReasonCode) {
  const [runbook, action] = ruleset.steps[code];
  return { reasonCode: code, action, runbook: `docs/runbooks/${runbook}.md` };
}
