import type { NotificationService } from "../../../../../gen/service/api/notification_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { invalid } from "../../../../errors/index.ts";
import { dateOf } from "../../../../platform/records/index.ts";
import type { SimulationService } from "./simulation-service.ts";

const weekMs = 7 * 86_400_000;
const messagesDefault = 10_000;

/** The operation of NotificationService that simulates changes. */
export function simulationHandlers(
  service: SimulationService,
): Pick<Handlers<typeof NotificationService>, "simulateTriggers"> {
  return {
    async simulateTriggers(context, request) {
      const until = request.until === undefined ? new Date(context.nowMs) : dateOf(request.until);
      const from = request.from === undefined ? new Date(until.getTime() - weekMs) : dateOf(request.from);
      if (from >= until) throw invalid("from", "order", "must be before until");
      const range = { from, until, messagesMax: request.messagesMax ?? messagesDefault };
      return { simulation: { ...(await service.simulateTriggers(context, request, range)), from, until } };
    },
  };
}
