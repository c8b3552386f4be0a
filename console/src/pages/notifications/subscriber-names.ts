import { createSubscriberService, type Subscriber } from "@client/gen/subscriber";
import { useQuery } from "../../core/query";
import { transport } from "../../core/transport";

const subscribers = createSubscriberService(transport);
const readMax = 1000;

/** A subscriber in few words. */
export function subscriberName({ first_name, last_name, external_id }: Subscriber): string {
  return `${first_name} ${last_name}`.trim() || external_id;
}

/** The names of the first subscribers, by id. */
export function useSubscriberNames(): ReadonlyMap<string, string> {
  const list = useQuery("subscriber names", () => subscribers.list({ limit: readMax }).page(), {
    live: ["subscriber."],
  });
  return new Map(list.data?.items.map((each) => [each.id, subscriberName(each)]));
}
