import { unreachable } from "../../../../errors/index.ts";
import { type Html, html } from "../../../../platform/html/index.ts";
import type { AuthMode } from "../../manifests/index.ts";
import type { EndView, FormField, FormView, PageFrame, PageView, RefusalReason } from "../flow/page-view.ts";
import type { PageDocument } from "./page-shell.ts";

/** Renders views of opened sessions. */
export interface ViewContext {
  /** The path of the session's page. */
  readonly address: string;
  /** The token that forms carry; empty for views without a form. */
  readonly formToken: string;
}

const modeTitles: Readonly<Record<AuthMode, string>> = {
  oauth2: "Sign in",
  oauth2_cc: "Client credentials",
  api_key: "API key",
  basic: "User name and password",
  two_step: "Login",
  jwt: "Service account",
  signed_jwt: "Signing key",
  aws_sigv4: "Access key",
  none: "No credentials",
};

const refusals: Readonly<Record<RefusalReason, readonly [title: string, text: string]>> = {
  unknown_session: ["This link is not valid", "It is unknown or was deleted. Ask for a new link."],
  opened_elsewhere: [
    "This link was already opened",
    "A link works in one browser only. Continue there, or ask for a new link.",
  ],
  invalid_token: ["This link is not valid", "It is incomplete or belongs to another session. Ask for a new link."],
  invalid_state: [
    "This sign-in cannot be continued",
    "It is unknown, has ended or was used before. Go back to the application and start again.",
  ],
  other_browser: [
    "This sign-in was started in another browser",
    "For your safety nothing was connected. If somebody sent you here, do not continue.",
  ],
  too_late: ["This link has ended", "It has expired, was used or was withdrawn. Ask for a new link."],
};

/** The texts of failures, after "The account was not connected". */
const failures: Readonly<Record<Exclude<EndView["errorCode"], "">, string>> = {
  cancelled: "You cancelled.",
  access_denied: "You did not grant access.",
  account_mismatch: "You signed in with another account than the one that is to be reconnected.",
  end_user_mismatch: "The account was connected by somebody else.",
  issuer_mismatch: "The answer came from another sender than expected.",
  redirect_mismatch: "The answer came from another provider than expected.",
  provider_refused: "The provider refused access.",
  provider_unavailable: "The provider could not be reached.",
  provider_malformed: "The provider's answer could not be used.",
  provider_changed: "The connection to the provider was changed in the meantime.",
  connection_unusable: "The connection does not exist any more.",
  too_many_connections: "The application cannot connect more accounts.",
  too_many_attempts: "There were too many attempts.",
};

/** Renders a view that is not a redirect. */
export function documentOf(view: Exclude<PageView, { kind: "redirect" }>, context: ViewContext): PageDocument {
  const { address } = context;
  switch (view.kind) {
    case "refused": {
      const [title, text] = refusals[view.reason];
      return { title, data: { view: "refused" }, main: html`${badge("!", "bad")}<h1>${title}</h1><p>${text}</p>` };
    }
    case "locked":
      return { title: "Connect an account", data: { view: "locked", address }, main: lockedMain(address) };
    case "choice":
      return {
        title: `Connect an account to ${view.frame.application}`,
        data: { view: "choice", address },
        main: html`<h1>Connect an account</h1>
${purpose(view.frame)}
${view.providers.length === 0 && html`<p class="problem" role="alert">Nothing can be connected at the moment.</p>`}
<ul class="providers">${view.providers.map(
          ({ key, name, description }) =>
            html`<li><a href="${address}?provider=${key}"><strong>${name}</strong><span class="quiet">${description}</span></a></li>`,
        )}</ul>
${cancelForm(context)}`,
      };
    case "form":
      return {
        title: `Connect ${view.provider.name} to ${view.frame.application}`,
        data: { view: "form", address },
        main: formMain(view, context),
      };
    case "departure":
      return {
        title: `Continue to ${view.providerName}`,
        data: { view: "departure", address },
        refresh: { url: view.url, onlyWithoutScript: false },
        main: html`${badge(view.providerName)}<h1>Continue to ${view.providerName}</h1>
<p>You sign in at <strong>${new URL(view.url).host}</strong> and come back here afterwards.</p>
<div class="actions"><a class="button" href="${view.url}" rel="noreferrer">Continue</a></div>`,
      };
    case "waiting":
      return {
        title: "Almost done",
        data: { view: "waiting", address },
        main: html`<h1>Almost done</h1><p>${view.frame.application} has to confirm the connection. Return to the application.</p>`,
      };
    case "end":
      return endDocument(view, address);
    default:
      return unreachable(view);
  }
}

/** A document that sends the end user to the application. */
export function returnDocument(url: string): PageDocument {
  return {
    title: "Return to the application",
    data: { view: "return" },
    refresh: { url, onlyWithoutScript: false },
    main: html`<h1>Done</h1><div class="actions"><a class="button" href="${url}" rel="noreferrer">Return to the application</a></div>`,
  };
}

function lockedMain(address: string): Html {
  // Shown until a script hides it, because an element for browsers without scripts is not shown if an extension blocks them.
  return html`<div id="unopened"><h1>Connect an account</h1>
<p class="problem">Turn on JavaScript to open this link. Its key is behind the # sign, and only a script can pass it on safely. All further steps work without JavaScript.</p></div>
<div id="opening" hidden><h1>Connect an account</h1><p class="quiet" role="status">The link is being opened.</p></div>
<div id="incomplete" hidden>${badge("!", "bad")}<h1>This link is not complete</h1><p>The part behind the # sign is missing. Copy the whole link, or ask for a new one.</p></div>
<form id="open" method="post" action="${address}/open"><input type="hidden" name="token"></form>`;
}

function formMain(view: FormView, context: ViewContext): Html {
  const { frame, provider, fields, mode, modes, permissions, problem, canChoose } = view;
  const { address, formToken } = context;
  const isRedirect = mode === "oauth2";
  const firstProblem = fields.find((field) => field.problem !== "")?.name;
  const modeLink = (each: AuthMode) =>
    html`<a href="${address}?provider=${provider.key}&mode=${each}"${each === mode && html` aria-current="page"`}>${modeTitles[each]}</a>`;
  return html`${badge(provider.name)}<h1>${frame.isReconnection ? "Reconnect" : "Connect"} ${provider.name}</h1>
${purpose(frame)}
${problem !== "" && html`<p class="problem" role="alert">${problem}</p>`}
${modes.length > 1 && html`<nav class="modes" aria-label="Ways to connect">${modes.map(modeLink)}</nav>`}
${permissions.length > 0 && html`<p>${frame.application} asks for:</p><ul class="permissions">${permissions.map((each) => html`<li>${each}</li>`)}</ul>`}
<form id="connect" method="post" action="${address}/submit" autocomplete="off">
<input type="hidden" name="form_token" value="${formToken}">
<input type="hidden" name="provider" value="${provider.key}">
<input type="hidden" name="mode" value="${mode}">
${fields.map((field) => fieldOf(field, field.name === firstProblem))}
</form>
${cancelForm(context, html`<button form="connect">${isRedirect ? `Continue to ${provider.name}` : "Connect"}</button>`)}
${canChoose && html`<p class="hint"><a href="${address}">Choose another provider</a></p>`}`;
}

function fieldOf(field: FormField, hasFocus: boolean): Html {
  const { name, title, description, example, isRequired, isSecret, isMultiline, choices, value, problem } = field;
  const id = name.replace(".", "-");
  const hint = [description, example === "" ? "" : `For example: ${example}`].filter((each) => each !== "").join(" ");
  const described = [hint !== "" && `${id}-hint`, problem !== "" && `${id}-wrong`].filter(Boolean).join(" ");
  const common = html` id="${id}" name="${name}"${isRequired && html` required`}${described !== "" && html` aria-describedby="${described}"`}${problem !== "" && html` aria-invalid="true"`}${hasFocus && html` autofocus`}`;
  const pattern = usablePattern(field.pattern);
  const control =
    choices !== undefined
      ? html`<select${common}>${choices.map((each) => html`<option${each === value && html` selected`}>${each}</option>`)}</select>`
      : isMultiline
        ? html`<textarea${common} spellcheck="false">${value}</textarea>`
        : html`<input${common} type="${isSecret ? "password" : "text"}" value="${value}" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="16384"${pattern !== undefined && html` pattern="${pattern}"`}${hint !== "" && html` title="${hint}"`}>`;
  return html`<div class="field"><label for="${id}">${title}${!isRequired && html` <span class="quiet">(optional)</span>`}</label>
${control}
${problem !== "" && html`<p class="wrong" id="${id}-wrong">${problem}</p>`}
${hint !== "" && html`<p class="hint" id="${id}-hint">${hint}</p>`}</div>
`;
}

/** Patterns are of RE2; those that browsers cannot compile are checked only by the service. */
function usablePattern(pattern: string | undefined): string | undefined {
  if (pattern === undefined) return undefined;
  try {
    new RegExp(pattern, "v");
    return pattern;
  } catch {
    return undefined;
  }
}

function cancelForm({ address, formToken }: ViewContext, before?: Html): Html {
  return html`<form method="post" action="${address}/cancel" class="actions"><input type="hidden" name="form_token" value="${formToken}">${before}<button class="plain">Cancel</button></form>`;
}

function endDocument(view: EndView, address: string): PageDocument {
  const { frame, status, errorCode, redirectUri } = view;
  const isDone = status === "completed";
  const title = isDone ? "Account connected" : "The account was not connected";
  const text = isDone
    ? `${frame.application} can use it now.`
    : errorCode !== ""
      ? failures[errorCode]
      : status === "revoked"
        ? "The link was withdrawn."
        : "The link has expired.";
  const data = { view: "end", session: frame.sessionId, status, origins: JSON.stringify(frame.allowedOrigins) };
  return {
    title,
    data: { ...data, redirect: redirectUri, address },
    refresh: redirectUri === "" ? undefined : { url: redirectUri, onlyWithoutScript: true },
    main: html`${badge(isDone ? "✓" : "!", isDone ? "good" : "bad")}<h1>${title}</h1>
<p role="status">${text}</p>
${
  redirectUri === ""
    ? html`<p class="quiet">You can close this window.</p>`
    : html`<div class="actions"><a class="button" href="${redirectUri}" rel="noreferrer">Return to ${frame.application}</a></div>`
}`,
  };
}

function purpose({ application, endUser }: PageFrame): Html {
  return html`<p class="quiet"><strong>${application}</strong> will use it for <strong>${endUser}</strong>.</p>`;
}

function badge(text: string, kind = ""): Html {
  return html`<div class="badge ${kind}" aria-hidden="true">${[...text][0] ?? ""}</div>`;
}
