import { type Html, html } from "../../../platform/html/index.ts";
import type { SignInRefusal, SsoConnection } from "../connections/index.ts";
import type { BrowserSession, LiveSession } from "../sessions/index.ts";
import type { PageDocument } from "./page-shell.ts";

/** Why a page refused a request. */
export type PageRefusal =
  | SignInRefusal
  | "unknown_connection"
  | "invalid_link"
  | "invalid_state"
  | "other_browser"
  | "provider_refused"
  | "provider_unavailable"
  | "other_site"
  | "needs_https";

const refusals: Readonly<Record<PageRefusal, readonly [status: number, title: string, text: string]>> = {
  unknown_connection: [404, "This sign-in does not exist", "The address is wrong, or the sign-in was turned off."],
  invalid_link: [
    403,
    "This link is not valid",
    "A link works once and within ten minutes. The command service login-link creates a new one.",
  ],
  invalid_state: [400, "This sign-in cannot be continued", "It has expired or was used before. Start again."],
  other_browser: [
    403,
    "This sign-in was started in another browser",
    "For your safety you were not signed in. If somebody sent you here, do not continue.",
  ],
  provider_refused: [403, "You were not signed in", "The answer of the identity provider was not accepted."],
  provider_unavailable: [502, "You were not signed in", "The identity provider did not respond. Try again."],
  not_a_member: [403, "You are not a member", "Ask an administrator of your workspace to invite you."],
  inactive: [403, "Your access was ended", "Ask an administrator of your workspace."],
  email_domain: [403, "You were not signed in", "Your email address is not of a domain that may sign in here."],
  email_unverified: [403, "You were not signed in", "Your identity provider has not verified your email address."],
  invalid_person: [403, "You were not signed in", "The identity provider did not say who you are."],
  sso_enforced: [403, "You were not signed in", "Sign in with the identity provider of your organization."],
  other_site: [403, "This request was refused", "It came from a page of another site."],
  needs_https: [403, "Sign-in needs https", "The operator must set api.public_url to an https address."],
};

/** The page that says why somebody was not signed in, and its status. */
export function refusalDocument(reason: PageRefusal): { readonly status: number; readonly document: PageDocument } {
  const [status, title, text] = refusals[reason];
  const main = html`<h1>${title}</h1><p>${text}</p><p><a href="/auth/sign-in">Sign in</a></p>`;
  return { status, document: { title, main } };
}

/** The page of a login link. A person must confirm, so that no other page can sign a browser in unseen. */
export function linkDocument(): PageDocument {
  return {
    title: "Sign in",
    main: html`<div id="scriptless"><h1>Sign in</h1><p>Turn on JavaScript to open this link: its key is behind the # sign, and only a script can pass it on safely.</p></div>
<div id="incomplete" hidden><h1>This link is not complete</h1><p>The part behind the # sign is missing. Copy the whole link.</p></div>
<div id="ready" hidden><h1>Sign in</h1><p>This link signs this browser in. Continue only if you asked for it.</p>
<form id="link" method="post" action="/auth/link"><input type="hidden" name="token"><button>Sign in</button></form></div>`,
  };
}

/** The page on which people choose how to sign in. */
export function signInDocument(
  workspace: string,
  connections: readonly SsoConnection[],
  returnTo: string,
): PageDocument {
  const query = returnTo === "" ? "" : `?return_to=${encodeURIComponent(returnTo)}`;
  const choices = connections.map(
    ({ id, name }) => html`<li><a class="button" href="/auth/start/${id}${query}">Continue with ${name}</a></li>`,
  );
  const main = html`<h1>Sign in</h1>
${choices.length > 0 && html`<ul>${choices}</ul>`}
${workspace !== "" && choices.length === 0 && html`<p role="alert">This workspace has no sign-in. Create a link with <code>service login-link</code>.</p>`}
${
  choices.length === 0 &&
  html`<form method="get" action="/auth/sign-in"><label for="workspace">Workspace</label>
<p class="quiet" id="workspace-hint">The short name of your organization, as in the address of its console: acme in /workspaces/acme.</p>
<input id="workspace" name="workspace" value="${workspace}" aria-describedby="workspace-hint" autocomplete="organization" autocapitalize="none" spellcheck="false" required maxlength="64">
${returnTo !== "" && html`<input type="hidden" name="return_to" value="${returnTo}">`}<button>Continue</button></form>
${workspace === "" && html`<p class="quiet">No identity provider yet? Open the link that the service prints when it starts, or create one with <code>service login-link</code>.</p>`}`
}`;
  return { title: "Sign in", main };
}

/** The page of somebody who is signed in: who it is, and the own sessions. */
export function sessionsDocument(
  { session, principal }: LiveSession,
  sessions: readonly BrowserSession[],
  formToken: string,
): PageDocument {
  const hidden = html`<input type="hidden" name="form_token" value="${formToken}">`;
  const row = (each: BrowserSession): Html => {
    const isCurrent = each.id === session.id;
    const end = html`<form method="post" action="/auth/sessions/revoke">${hidden}<input type="hidden" name="id" value="${each.id}">
<span>${each.userAgent || "Unknown browser"}<br><span class="quiet">since ${each.createdAt.toISOString()}, ${each.address}</span></span>
${isCurrent ? html`<strong>this browser</strong>` : html`<button class="plain">End</button>`}</form>`;
    return html`<li>${end}</li>`;
  };
  const main = html`<h1>You are signed in</h1>
<p class="quiet">${principal.subject}, ${principal.roles.join(", ") || "without a role"}</p>
<p><a class="button" href="/console">Open the console</a></p>
<h2>Your sessions</h2><ul>${sessions.map(row)}</ul>
<form method="post" action="/auth/sign-out">${hidden}<button>Sign out</button></form>`;
  return { title: "You are signed in", main };
}

/** The page after a sign-out. */
export function signedOutDocument(): PageDocument {
  const main = html`<h1>You are signed out</h1><p><a href="/auth/sign-in">Sign in</a></p>`;
  return { title: "You are signed out", main };
}

/** A page that sends the browser elsewhere. Browsers do not let a form be redirected to another site. */
export function departureDocument(url: string): PageDocument {
  const main = html`<h1>You are signed out here</h1><p><a class="button" href="${url}" rel="noreferrer">Sign out at the identity provider</a></p>`;
  return { title: "Signing out", refresh: url, main };
}
