import { inEnvironment, nameSource } from "../name-source.ts";

/** The names of what connectors work with. */
export const connectorNames = [
  nameSource("connection", "connection:read", "connector_connections", inEnvironment),
  nameSource("provider_config", "provider_config:read", "connector_provider_configs", inEnvironment),
  nameSource("connector_trigger", "connector_trigger:read", "connector_trigger_subscriptions", inEnvironment),
  nameSource("connector_execution", "connector_action:read", "connector_executions", {
    name: "action_key",
    isAmbiguous: "true",
    isVisible: (inProduction) => `coalesce((
      select (c.environment_key = 'production') = ${inProduction} from connector_connections c
      where c.tenant_id = t.tenant_id and c.id = t.connection_id), true)`,
  }),
];
