import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Mail } from "./domain/engine/state.ts";
import type { RunEngine } from "./run-engine.ts";

const mailMax = 1000;
const mailBytesMax = 1024 * 1024;

/** The sizes of payloads, which each event of a burst is compared with. */
const payloadSizes = new WeakMap<Mail, number>();

function payloadSize(mail: Mail): number {
  const known = payloadSizes.get(mail) ?? JSON.stringify(mail.payload).length;
  payloadSizes.set(mail, known);
  return known;
}

/** Throws if the mailbox of a run has no room for a payload of this size. */
export function requireRoomForMail(unread: readonly Mail[], payloadBytes: number): void {
  const mailBytes = unread.reduce((sum, mail) => sum + payloadSize(mail), payloadBytes);
  if (unread.length < mailMax && mailBytes <= mailBytesMax) return;
  throw fail("FAILED_PRECONDITION", {
    public: `The run holds ${unread.length} events that no step has consumed. At most ${mailMax} events and 1 MiB are kept.`,
  });
}

export type RunEvents = ReturnType<typeof createRunEvents>;

/** Creates the function that sends events to runs, without a response of a call. */
export function createRunEvents(engine: RunEngine) {
  return {
    /** Sends an event to a run; an event that the run has received before has no effect. Throws if the mailbox is full. */
    async sendMail(tenantId: TenantId, runId: string, mail: Mail) {
      const payloadBytes = Buffer.byteLength(JSON.stringify(mail.payload));
      const result = await engine.advance({
        ...{ tenantId, runId, eventId: mail.eventId },
        toEvent({ mail: unread, isKnown }) {
          if (isKnown) return undefined;
          requireRoomForMail(unread, payloadBytes);
          return { kind: "mail", mail };
        },
      });
      if (result === "not_found") return "ended";
      return result === "applied" ? "delivered" : "known";
    },
  };
}
