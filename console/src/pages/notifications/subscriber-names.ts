import type { Subscriber } from "@client/gen/subscriber";

/** A subscriber in few words. */
export function subscriberName({ first_name, last_name, external_id }: Subscriber): string {
  return `${first_name} ${last_name}`.trim() || external_id;
}
