import type { AccountValues, Provider } from "../provider.ts";
import type { RenderFailure } from "../request-spec.ts";
import type { TextTemplate } from "../template.ts";
import { renderUrl } from "./url.ts";
import { RenderError, requireText } from "./values.ts";

/** Renders the URL of an endpoint, such as the token endpoint. Its host must be declared. */
export function renderEndpoint(
  provider: Provider,
  template: TextTemplate,
  account: AccountValues,
  nowMs: number,
): string | RenderFailure {
  return faultOr(() => {
    const url = URL.parse(renderUrl(template, { input: {}, account, nowMs }));
    if (url !== null && provider.hosts.allows(url, account.settings)) return url.href;
    const hosts = provider.hosts.patterns.join(", ");
    throw new RenderError("host_not_allowed", "url", `reaches a host that the manifest does not declare: ${hosts}`);
  });
}

/** Renders a text of the authentication, such as a parameter of the token request. */
export function renderParameter(template: TextTemplate, account: AccountValues, nowMs: number): string | RenderFailure {
  return faultOr(() => requireText(template, { input: {}, account, nowMs }));
}

function faultOr<T>(render: () => T): T | RenderFailure {
  try {
    return render();
  } catch (error) {
    if (error instanceof RenderError) return error.fault;
    throw error;
  }
}
