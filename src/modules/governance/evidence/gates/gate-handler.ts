import type { RolloutEvidenceService as Rpc } from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { requireEnvironment } from "../../../../platform/access/index.ts";
import { expandRequirements, requirementsVersion } from "../domain/requirements.ts";
import { type SubjectKind, subjectKinds } from "../domain/subject.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import { fromFinding, fromGate } from "./gate-message.ts";
import type { GateService } from "./gate-service.ts";

/** Creates the handlers of gates and requirements. */
export function gateHandlers(gates: GateService, changes: PackChanges) {
  return {
    async evaluateEvidenceGate(context, { environmentId, packId }) {
      const pack = await changes.find(context, environmentId, packId);
      const gate = await gates.evaluateNow(context.sql, await changes.readContent(context.sql, pack));
      return { gate: fromGate(gate, pack) };
    },

    async explainEvidencePack(context, { environmentId, packId }) {
      const pack = await changes.find(context, environmentId, packId);
      const gate = await gates.evaluateNow(context.sql, await changes.readContent(context.sql, pack));
      return { explanation: { gate: fromGate(gate, pack), findings: gate.findings.map(fromFinding) } };
    },

    async expandEvidenceRequirements(context, { environmentId, kinds }) {
      const { mode } = await requireEnvironment(context, environmentId);
      const wanted = kinds.length === 0 ? subjectKinds : (kinds as SubjectKind[]);
      const requirements = expandRequirements(mode, wanted);
      return { requirementSet: { version: requirementsVersion, environmentMode: mode, requirements } };
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}
