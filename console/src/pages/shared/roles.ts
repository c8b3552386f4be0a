const roles = [
  "viewer",
  "operator",
  "admin",
  "service",
  "secret_manager",
  "config_manager",
  "notification_admin",
  "workflow_approver",
  "promotion_approver",
  "promotion_waiver",
];

/** The hint of a field with a list of roles. */
export const roleHint = `Separated by commas: ${roles.join(", ")}.`;
