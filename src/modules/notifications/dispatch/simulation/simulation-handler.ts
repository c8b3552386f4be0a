import type { NotificationService } from "../../../../../gen/service/api/notification_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { timeRangeOf } from "../../../../platform/records/index.ts";
import type { SimulationService } from "./simulation-service.ts";

const messagesDefault = 10_000;

/** The operation of NotificationService that simulates changes. */
export function simulationHandlers(
  service: SimulationService,
): Pick<Handlers<typeof NotificationService>, "simulateTriggers"> {
  return {
    async simulateTriggers(context, request) {
      const range = timeRangeOf(request, context.nowMs);
      const limits = { ...range, messagesMax: request.messagesMax ?? messagesDefault };
      return { simulation: { ...(await service.simulateTriggers(context, request, limits)), ...range } };
    },
  };
}
