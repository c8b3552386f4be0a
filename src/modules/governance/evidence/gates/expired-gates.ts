import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { EventEntry } from "../../../operations/index.ts";

interface ExpiredGate {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly environmentId: string;
  readonly candidateId: string | null;
  readonly gateEndReason: string;
}

/** Marks gates whose evidence has expired or become stale as closed; returns the events. */
export async function closeExpiredGates(tx: Sql, limit: number): Promise<EventEntry[]> {
  const closed = await tx<ExpiredGate[]>`
    with expired as (
      select tenant_id, id from evidence_packs
      where gate_state = 'open' and gate_valid_until <= now()
      order by gate_valid_until limit ${limit} for update skip locked)
    update evidence_packs pack set gate_state = 'closed', gate_valid_until = null
    from expired where pack.tenant_id = expired.tenant_id and pack.id = expired.id
    returning pack.tenant_id, pack.id, pack.environment_id, pack.candidate_id, pack.gate_end_reason`;
  return closed.map(({ tenantId, id, environmentId, candidateId, gateEndReason }) => ({
    tenantId,
    type: "evidence.gate.closed",
    subject: id,
    data: {
      ...{ candidate_id: candidateId ?? "", digest: "", reasons: [gateEndReason], environment_id: environmentId },
    },
  }));
}
