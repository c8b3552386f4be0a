import type { Event } from "../../events/index.ts";

/** The media type of the body. */
export const contentType = "application/cloudevents+json";

/** The body of a message: the event in the CloudEvents JSON format, without empty attributes. */
export function bodyOf({ tenantId, environmentId, id, type, source, subject, time, data }: Event): string {
  return JSON.stringify({
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
  });
}
