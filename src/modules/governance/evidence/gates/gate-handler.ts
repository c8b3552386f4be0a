import { create } from "@bufbuild/protobuf";
import {
  EvaluateEvidenceGateResponseSchema,
  ExpandEvidenceRequirementsResponseSchema,
  ExplainEvidencePackResponseSchema,
  type RolloutEvidenceService as Rpc,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { requireEnvironment } from "../../../../platform/access/index.ts";
import { expandRequirements, requirementsVersion } from "../domain/requirements.ts";
import { type SubjectKind, subjectKinds } from "../domain/subject.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import { fromFinding, fromGate, fromRequirement } from "./gate-message.ts";
import type { GateService } from "./gate-service.ts";

interface Dependencies {
  readonly gates: GateService;
  readonly changes: PackChanges;
}

type GateMethods = "evaluateEvidenceGate" | "explainEvidencePack" | "expandEvidenceRequirements";

/** Creates the handlers of gates and requirements. */
export function gateHandlers({ gates, changes }: Dependencies): Pick<Handlers<typeof Rpc>, GateMethods> {
  return {
    async evaluateEvidenceGate(context, { environmentId, packId }) {
      const pack = await changes.find(context, environmentId, packId);
      const gate = await gates.evaluateNow(context.sql, await changes.readContent(context.sql, pack));
      return create(EvaluateEvidenceGateResponseSchema, { gate: fromGate(gate, pack) });
    },

    async explainEvidencePack(context, { environmentId, packId }) {
      const pack = await changes.find(context, environmentId, packId);
      const gate = await gates.evaluateNow(context.sql, await changes.readContent(context.sql, pack));
      const explanation = { gate: fromGate(gate, pack), findings: gate.findings.map(fromFinding) };
      return create(ExplainEvidencePackResponseSchema, { explanation });
    },

    async expandEvidenceRequirements(context, { environmentId, kinds }) {
      const { mode } = await requireEnvironment(context, environmentId);
      const wanted = kinds.length === 0 ? subjectKinds : (kinds as SubjectKind[]);
      const requirementSet = {
        version: requirementsVersion,
        environmentMode: mode,
        requirements: expandRequirements(mode, wanted).map(fromRequirement),
      };
      return create(ExpandEvidenceRequirementsResponseSchema, { requirementSet });
    },
  };
}
