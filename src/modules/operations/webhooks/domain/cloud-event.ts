import type { Event } from "../../events/index.ts";

/** The media type of the body. */
export const contentType = "application/cloudevents+json";

/** An event in the CloudEvents JSON format, without empty attributes. */
export function cloudEventOf({ tenantId, environmentId, id, type, source, subject, time, data }: Event) {
  return {
    specversion: "1.0",
    id,
    type,
    source,
    ...(subject !== "" && { subject }),
    time: time.toISOString(),
    datacontenttype: "application/json",
    tenantid: tenantId,
    ...(environmentId !== null && { environmentid: environmentId }),
    data,
  };
}
