import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Mail } from "./domain/engine/state.ts";
import type { RunEngine } from "./run-engine.ts";
import type { LiveRun } from "./storage/run-loader.ts";

const mailMax = 1000;
const mailBytesMax = 1024 * 1024;

/** Throws if the mailbox of a run has no room for a payload of this size. */
export function requireRoomForMail(run: Pick<LiveRun, "mail">, payloadBytes: number): void {
  const mailBytes = run.mail.reduce((sum, mail) => sum + JSON.stringify(mail.payload).length, payloadBytes);
  if (run.mail.length < mailMax && mailBytes <= mailBytesMax) return;
  throw fail("FAILED_PRECONDITION", {
    public: `The run holds ${run.mail.length} events that no step has consumed. At most ${mailMax} events and 1 MiB are kept.`,
  });
}

/** Events that the service itself sends to runs. */
export interface OwnMail {
  /** Sends an event to a run; an event that the run has received before has no effect. Throws if the mailbox is full. */
  sendMail(tenantId: TenantId, runId: string, mail: Mail): Promise<"delivered" | "known" | "ended">;
}

/** Creates the function that sends events of the service itself. */
export function createOwnMail(engine: RunEngine): OwnMail {
  return {
    async sendMail(tenantId, runId, mail) {
      const payloadBytes = Buffer.byteLength(JSON.stringify(mail.payload));
      const result = await engine.advance({
        ...{ tenantId, runId, eventId: mail.eventId },
        toEvent({ run, isKnown }) {
          if (isKnown) return undefined;
          requireRoomForMail(run, payloadBytes);
          return { kind: "mail", mail };
        },
      });
      if (result === "not_found") return "ended";
      return result === "applied" ? "delivered" : "known";
    },
  };
}
