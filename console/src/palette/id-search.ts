import { createDiscoveryService } from "@client/gen/discovery";
import { placeOf } from "../core/places";
import { unlistedTransport as transport } from "../core/transport";
import { words } from "../ui/format";
import type { IconName } from "../ui/icon";
import type { Found } from "./found";

/** The icons of the records that have another one than events. */
const icons: Readonly<Record<string, IconName>> = {
  pool: "pools",
  recipient: "pools",
  rule: "pools",
  decision: "decisions",
  queue_item: "queues",
  schedule: "schedules",
  workflow_definition: "workflows",
  workflow_run: "workflows",
  experiment: "experiments",
  promotion: "promotions",
  subscriber: "notifications",
  notification_delivery: "notifications",
  notification_run: "notifications",
  connection: "connectors",
  connector_execution: "connectors",
  webhook_endpoint: "webhooks",
  member: "members",
  api_key: "keys",
};

/** Finds the records with an id. */
export async function findById(id: string): Promise<Found[]> {
  const { names } = await createDiscoveryService(transport).resolveNames({ ids: [id] });
  return names.flatMap((each) => {
    const place = placeOf(each);
    const found = { title: each.name, kind: words(each.kind), icon: icons[each.kind] ?? "events" };
    return place === undefined ? [] : [{ ...found, href: place }];
  });
}
