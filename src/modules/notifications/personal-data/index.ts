/**
 * Personal data: what is stored about one subscriber, wherever it is.
 *
 * export: all of it as JSON. erasure: its removal; records that must stay are kept without what they say about the person.
 */
import type { SubscriberService as Rpc } from "../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { createPersonalDataService } from "./personal-data-service.ts";

type PersonalDataHandlers = Pick<Handlers<typeof Rpc>, "exportSubscriber" | "eraseSubscriber">;

export function createPersonalData(dependencies: Parameters<typeof createPersonalDataService>[0]) {
  const service = createPersonalDataService(dependencies);
  const handlers: PersonalDataHandlers = {
    exportSubscriber: async (context, { id }) => ({ kinds: await service.exportSubscriber(context, id) }),
    eraseSubscriber: async (context, { id }) => ({ erasureId: await service.eraseSubscriber(context, id) }),
  };
  return { handlers, jobs: service.jobs };
}
