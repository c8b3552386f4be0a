import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type OperationalHealthReport,
  OperationalHealthReportSchema,
  OperationalHealthSignalSchema,
} from "../../../../gen/service/api/operational_health_pb.ts";
import type { Signal } from "./domain/evaluation.ts";
import type { Report } from "./domain/report.ts";
import { type ReasonCode, ruleset, rulesetDigest, type SignalRule } from "./domain/ruleset.ts";

/** The version of the report's format. */
const reportVersion = "v1";

export function fromReport(report: Report): OperationalHealthReport {
  const { id, scope, window, verdict, confidence, codes, signals, sources, dependencies, generatedAtMs } = report;
  return create(OperationalHealthReportSchema, {
    ...{ id, version: reportVersion, verdict, confidence, reasonCodes: [...codes], scope },
    window: {
      start: timestampFromMs(window.startMs),
      end: timestampFromMs(window.endMs),
      periodS: (window.endMs - window.startMs) / 1000,
    },
    ruleset: { version: ruleset.version, digest: rulesetDigest },
    signals: signals.map(fromSignal),
    sources: sources.map(({ name, freshness, ageS, skewMs }) => ({ name, freshness, ageS, clockSkewMs: skewMs })),
    dependencies: dependencies.map(({ name, state, ageS }) => ({ name, state, ageS })),
    nextSteps: codes.map(toNextStep),
    generatedAt: timestampFromMs(generatedAtMs),
  });
}

function fromSignal({ name, level, code, value, evidence }: Signal) {
  const { title, unit, degradedAt, unhealthyAt, unknownAbove }: SignalRule = ruleset.signals[name];
  return create(OperationalHealthSignalSchema, {
    ...{ name, title, level, reasonCode: code ?? "", unit, value, degradedAt, unhealthyAt, unknownAbove },
    evidence: [...evidence],
  });
}

function toNextStep(code: ReasonCode) {
  const { action, runbook } = ruleset.steps[code];
  return { reasonCode: code, action, runbook: `docs/runbooks/${runbook}.md` };
}
