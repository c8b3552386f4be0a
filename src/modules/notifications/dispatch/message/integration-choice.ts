import type { TenantId } from "../../../../platform/access/index.ts";
import type { Connections } from "../../../connectors/index.ts";
import type { Integration, Integrations, SelectionFailure } from "../../integrations/index.ts";
import { credentialCode, type Providers } from "../../providers/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { DeliveryFailure } from "../domain/delivery.ts";
import type { Target } from "../domain/plan.ts";
import type { TemplateValues } from "./template-values.ts";

/** A message that needs an integration. */
export interface IntegrationRequest {
  readonly delivery: { readonly tenantId: TenantId; readonly channel: Channel };
  readonly target: Target;
  /** The only integration that may send it, because it may already have done so; "" for any. */
  readonly onlyIntegrationId: string;
}

/** The integration, or built-in provider, that sends a message. */
export type SelectedIntegration = Pick<Integration, "id" | "providerKey" | "connectionId" | "casingOverride">;

export interface IntegrationChooserParts {
  readonly integrations: Pick<Integrations, "choose" | "find">;
  readonly connections: Pick<Connections, "open">;
  readonly providers: Pick<Providers, "find">;
  /** Whether messages that no integration serves are stored in the outbox. */
  readonly outbox: boolean;
}

/** Chooses the integration of a message, or says why none serves it. */
export type IntegrationChooser = (
  request: IntegrationRequest,
  values: TemplateValues,
  except: ReadonlySet<string>,
) => Promise<SelectedIntegration | DeliveryFailure>;

export function createIntegrationChooser(parts: IntegrationChooserParts): IntegrationChooser {
  const { integrations, connections, providers, outbox } = parts;
  return async ({ delivery, target, onlyIntegrationId }, values, except) => {
    const { tenantId, channel } = delivery;
    if (onlyIntegrationId !== "") {
      const previous = await integrations.find(tenantId, onlyIntegrationId);
      return previous?.active
        ? previous
        : { ...unknown, detail: "The integration that may have sent the message was deleted or deactivated." };
    }
    const pinned = target.connectionId === "" ? undefined : await connections.open(tenantId, target.connectionId);
    if (typeof pinned === "string") {
      return {
        phase: "credential",
        code: credentialCode(pinned),
        detail: "The connection to which the address is pinned cannot be used.",
      };
    }
    const accepts = async (providerKey: string) => {
      if (pinned !== undefined) return providerKey === pinned.providerKey;
      return (await providers.find(tenantId, providerKey))?.acceptsAddress(channel, target) ?? false;
    };
    const choice = await integrations.choose(tenantId, channel, { ...values, channel }, except, accepts);
    if (typeof choice !== "string") return choice;
    if (choice === "none_active" && channel === "in_app") return { ...builtIn, providerKey: "in_app" };
    if (choice === "none_active" && outbox && except.size === 0) return { ...builtIn, providerKey: "development" };
    return { phase: "integration", code: choice, detail: unservedDetail(choice, target, pinned?.providerKey) };
  };
}

const builtIn = { id: "", connectionId: "", casingOverride: "" } as const;
const unknown = { phase: "provider", code: "outcome_unknown" } as const;

const unserved = {
  none_active: "No active integration serves the channel.",
  condition_no_match: "No integration of the channel has a condition that matches.",
  condition_error: "The condition of an integration of the channel cannot be evaluated.",
} as const;

function unservedDetail(fault: SelectionFailure, { providerKey }: Target, pinnedTo: string | undefined): string {
  if (fault !== "none_active") return unserved[fault];
  if (pinnedTo !== undefined)
    return `No active integration of ${pinnedTo} serves the channel; the address is pinned to it.`;
  if (providerKey === "") return unserved.none_active;
  return `No active integration serves the channel for addresses with the provider_key ${providerKey}.`;
}
