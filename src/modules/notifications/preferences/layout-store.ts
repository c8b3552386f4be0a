import type { HasLayout } from "./workflow-service.ts";

/** Tells it from the layouts that are stored, and keeps the layout from being deleted until the transaction ends. */
export const storedLayout: HasLayout = async (sql, tenantId, layoutId, channel) => {
  // Layouts alone write this channel in one word.
  const named = channel === "in_app" ? "inapp" : channel;
  const found = await sql`
    select from notification_layouts where tenant_id = ${tenantId} and id = ${layoutId} and channel = ${named}
    for key share`;
  return found.length === 1;
};
