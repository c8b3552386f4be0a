import type { Page } from "playwright-core";
import { openSearch, pick } from "../console-browser.ts";

const dialogOf = (page: Page) => page.getByRole("dialog");

/** Fills the form of a dialog and sends it. */
async function submit(page: Page, fields: Readonly<Record<string, string>>, button: string): Promise<void> {
  const dialog = dialogOf(page);
  for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(new RegExp(`^${label}`)).fill(text);
  await dialog.getByRole("button", { name: button, exact: true }).click();
}

/** Invites a person, changes the roles, and removes the person. */
export async function manageMember(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/members`);
  await page.getByRole("button", { name: "Invite" }).first().click();
  await submit(page, { Email: "grace@acme.example", Name: "Grace", Roles: "viewer" }, "Invite");
  const row = page.getByRole("row", { name: /Grace/ });
  await row.getByText("viewer").waitFor();
  await row.getByRole("button", { name: "Roles" }).click();
  await submit(page, { Roles: "viewer, operator" }, "Save roles");
  await row.getByText("operator").waitFor();
  await row.getByRole("button", { name: "Remove" }).click();
  await dialogOf(page).getByRole("button", { name: "Remove member" }).click();
  await row.waitFor({ state: "detached" });
}

/** Stores a secret, replaces its value and deletes it. The value is never shown. */
export async function manageSecret(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/secrets`);
  await page.getByRole("button", { name: "New secret" }).first().click();
  await submit(page, { Name: "shop-token", Value: "correct horse" }, "Create secret");
  const row = page.getByRole("row", { name: /shop-token/ });
  await row.getByRole("button", { name: "Replace" }).click();
  await submit(page, { Value: "battery staple" }, "Replace value");
  await row.getByRole("cell", { name: "2", exact: true }).waitFor();
  if (/correct horse|battery staple/.test(await page.content()))
    throw new Error("the page shows the value of a secret");
  await row.getByRole("button", { name: "Delete" }).click();
  await dialogOf(page).getByLabel("Type shop-token to continue").fill("shop-token");
  await dialogOf(page).getByRole("button", { name: "Delete secret" }).click();
  await row.waitFor({ state: "detached" });
}

/** Connects an identity provider, sees the address to register, and gives roles to a group. */
export async function connectIdentityProvider(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/sso`);
  await page.getByRole("button", { name: "Connect a provider" }).first().click();
  const fields = { Name: "Okta", Issuer: "https://acme.okta.com", "Client id": "0oa1", "Client secret": "a secret" };
  await submit(page, fields, "Connect");
  await dialogOf(page).getByRole("heading", { name: "Callback address" }).waitFor();
  await page.goto(`${root}/sso?tab=groups`);
  await page.getByRole("button", { name: "Give roles" }).first().click();
  await submit(page, { Group: "Support", Roles: "operator" }, "Give roles");
  await page.getByRole("cell", { name: "Support" }).waitFor();
}

/** Registers an endpoint, sends a test, sees its attempt, and rotates the secret. */
export async function operateWebhook(page: Page, root: string, url: string): Promise<void> {
  await page.goto(`${root}/webhooks`);
  await page.getByRole("button", { name: "New endpoint" }).first().click();
  await submit(page, { Address: url, Description: "The warehouse", "Event types": "order.*" }, "Create endpoint");
  await dialogOf(page)
    .getByText(/^whsec_/)
    .waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.locator("a.row-link", { hasText: url }).click();
  await page.getByRole("heading", { level: 1, name: "The warehouse" }).waitFor();
  await page.getByRole("button", { name: "Send test" }).click();
  await page.locator("a.row-link", { hasText: "webhook.endpoint.test" }).first().click();
  await dialogOf(page).getByText("200").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Rotate secret" }).click();
  await dialogOf(page).getByRole("button", { name: "Rotate secret" }).click();
  await dialogOf(page)
    .getByText(/^whsec_/)
    .waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();
}

/** Creates an experiment with two metrics, clears the limits of its guardrail, and starts it. */
export async function designExperiment(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/experiments`);
  await page.getByRole("button", { name: "New experiment" }).first().click();
  const dialog = dialogOf(page);
  const metrics = dialog.getByRole("group", { name: /^Metrics, / });
  await metrics
    .nth(0)
    .getByLabel(/^Expected now/)
    .fill("0.1");
  await metrics
    .nth(0)
    .getByLabel(/^Smallest lift/)
    .fill("0.2");
  await dialog.getByText(/units find the smallest lifts/).waitFor();
  await dialog.getByRole("group", { name: "Metrics", exact: true }).getByRole("button", { name: "Add" }).click();
  await submit(page, { Name: "Checkout", "Who may enter": `attributes.country == "CH"` }, "Create draft");
  await dialog.getByText("Complete or remove the marked rows.").waitFor();
  const revenue = metrics.nth(1);
  await revenue.getByLabel(/^Key/).fill("revenue");
  await revenue.getByLabel(/^Type/).selectOption("mean");
  await revenue.getByLabel(/^Role/).selectOption("guardrail");
  await revenue.getByLabel(/^Margin/).fill("2");
  await revenue.getByLabel(/^Largest value/).fill("500");
  await dialog.getByLabel("Key").first().fill("checkout");
  await submit(page, {}, "Create draft");
  await page.getByRole("heading", { level: 1, name: "Checkout" }).waitFor();
}

/** Clears what is optional about a draft: the condition, and the limits of its guardrail. */
export async function clearDesign(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Change" }).click();
  const revenue = dialogOf(page).getByRole("group", { name: "Metrics, 2" });
  await revenue.getByLabel(/^Margin/).fill("");
  await revenue.getByLabel(/^Largest value/).fill("");
  await submit(page, { "Who may enter": "" }, "Save changes");
  await page.getByText("The experiment was changed.").waitFor();
}

/** Installs a pack after its preview. */
export async function installPack(
  page: Page,
  root: string,
  title: string,
  slots: Readonly<Record<string, string>>,
): Promise<void> {
  await page.goto(`${root}/marketplace`);
  await page.locator("a.row-link", { hasText: title }).click();
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("heading", { name: "What an installation would do" }).waitFor();
  await page.getByRole("button", { name: "Install", exact: true }).first().click();
  for (const [label, text] of Object.entries(slots)) await dialogOf(page).last().getByLabel(label).fill(text);
  await dialogOf(page).last().getByRole("button", { name: "Install", exact: true }).last().click();
  await page.getByText("The pack was installed.").waitFor();
}

/** Creates the link with which somebody connects an account. */
export async function connectAccount(page: Page, root: string, provider: string): Promise<void> {
  await page.goto(`${root}/connectors?open=${provider}`);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await dialogOf(page).last().getByLabel("End user").fill("ada");
  await dialogOf(page).last().getByRole("button", { name: "Create link" }).click();
  await page.getByRole("link", { name: "Open the link" }).waitFor();
}

/** Ends the session of another browser. */
export async function endSession(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/sessions`);
  await page.getByRole("button", { name: "End", exact: true }).first().click();
  await dialogOf(page).getByRole("button", { name: "End session" }).click();
  await page.getByText("The session has ended.").waitFor();
}

/** Creates an environment, and finds the change in the audit. */
export async function createEnvironment(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/settings?tab=environments`);
  await page.getByRole("button", { name: "New environment" }).first().click();
  await submit(page, { Key: "lab", Name: "Laboratory" }, "Create environment");
  await page.getByRole("cell", { name: "Laboratory" }).waitFor();
  await page.goto(`${root}/audit`);
  await page
    .getByRole("row", { name: /environment\.created/ })
    .getByRole("link", { name: "first admin" })
    .waitFor();
}

/** Follows a stream: a record that is appended appears. */
export async function followStream(page: Page, root: string, run: string, stream: string): Promise<void> {
  await page.goto(`${root}/streams`);
  await page.getByRole("button", { name: "Open a stream" }).click();
  await pick(dialogOf(page), "Run", run);
  await submit(page, { Stream: stream }, "Open");
  await page.getByRole("heading", { level: 1, name: stream }).waitFor();
  await page.getByRole("button", { name: "Append" }).click();
  await submit(page, { Payload: `{ "line": "first" }` }, "Append");
  await page.getByRole("cell", { name: /"line": ?"first"/ }).waitFor();
}

/** Goes to a record through the search. */
export async function goTo(page: Page, text: string, option: RegExp, address: RegExp): Promise<void> {
  await (await openSearch(page)).fill(text);
  await page.getByRole("option", { name: option }).click();
  await page.waitForURL(address);
}
