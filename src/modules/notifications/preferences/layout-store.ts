import type { HasLayout } from "./workflow-service.ts";

/** Checks whether a layout is stored and locks it against deletion until the transaction ends. */
export const hasStoredLayout: HasLayout = async (sql, tenantId, layoutId, channel) => {
  // Only layouts use `inapp` instead of `in_app`.
  const named = channel === "in_app" ? "inapp" : channel;
  const found = await sql`
    select from notification_layouts where tenant_id = ${tenantId} and id = ${layoutId} and channel = ${named}
    for key share`;
  return found.length === 1;
};
