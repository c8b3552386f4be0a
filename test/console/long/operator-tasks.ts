import type { Page } from "playwright-core";
import { pick } from "../console-browser.ts";

/** Creates a schedule, and sees its next times while its expression is typed. */
export async function createSchedule(page: Page, root: string, pool: string, name: string): Promise<void> {
  await page.goto(`${root}/schedules`);
  await page.getByRole("button", { name: "New schedule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await pick(dialog, "Pool", pool);
  await dialog.getByLabel("Type of the item").fill("report");
  await dialog.getByLabel("Time zone").selectOption("Europe/Berlin");
  await dialog.getByLabel("Times, as a cron expression").fill("0 99 * * *");
  await dialog.locator(".error").waitFor();
  await dialog.getByLabel("Times, as a cron expression").fill("0 9 * * 1-5");
  await dialog.getByText(", 09:00:00").first().waitFor();
  await dialog.getByRole("button", { name: "Create schedule" }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

/** Fires a schedule, pauses and resumes it, changes its times, and deletes it. */
export async function operateSchedule(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Fire now" }).click();
  await page.getByRole("row", { name: /Routed.*Manual/ }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("A paused schedule has none.").waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText(", 09:00:00").first().waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Times, as a cron expression").fill("30 7 * * *");
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await page.getByText(", 07:30:00").first().waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByLabel(`Type ${name} to continue`).fill(name);
  await dialog.getByRole("button", { name: "Delete schedule" }).click();
  await page.getByRole("heading", { level: 1, name: "Schedules" }).waitFor();
}

/** Suppresses an address, and sends to it again. */
export async function suppressAddress(page: Page, root: string, address: string): Promise<void> {
  await page.goto(`${root}/notifications?tab=suppressions`);
  await page.getByRole("button", { name: "Suppress an address" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill(address);
  await dialog.getByLabel("Note").fill("asked by phone");
  await dialog.getByRole("button", { name: "Suppress" }).click();
  await page.getByRole("cell", { name: address }).waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove suppression" }).click();
  await page.getByText("The address gets messages again.").waitFor();
  await page.getByText("No suppressed address").waitFor();
}

/** Cancels all items of a type. The number is shown before, and the progress after. */
export async function cancelItems(
  page: Page,
  root: string,
  pool: { readonly id: string; readonly name: string },
  type: string,
  count: number,
): Promise<void> {
  await page.goto(`${root}/queues/${pool.id}?tab=bulk`);
  await page.getByRole("button", { name: "Change many items" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Type").fill(type);
  await dialog.getByText(`${count} items match now`).waitFor();
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText(`${count} items of ${pool.name} leave the queue`).waitFor();
  await dialog.getByLabel(`Type ${pool.name} to continue`).fill(pool.name);
  await dialog.getByRole("button", { name: "Cancel items" }).click();
  await dialog.getByText(`${count} of ${count} items changed`).waitFor();
  await dialog.getByText("Completed").first().waitFor();
}

/** Retries the dead letters that match a filter. */
export async function retryByFilter(page: Page, root: string, poolId: string, type: string): Promise<void> {
  await page.goto(`${root}/dead-letters?pool=${poolId}`);
  await page.getByRole("button", { name: "Retry by filter" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Type").fill("no such type");
  await dialog.getByText("No item matches now.").waitFor();
  await dialog.getByLabel("Type").fill(type);
  await dialog.getByText("1 item matches now").waitFor();
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("button", { name: "Retry dead letters" }).click();
  await dialog.getByText("1 of 1 items changed").waitFor();
}

/** Declines for one recipient, and accepts for the next one. */
export async function answerOffers(page: Page, root: string, poolId: string): Promise<void> {
  await page.goto(`${root}/queues/${poolId}?tab=offers`);
  await page.getByRole("row", { name: /Anna/ }).getByRole("button", { name: "Decline" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason · optional", { exact: true }).fill("On a break");
  await dialog.getByRole("button", { name: "Decline" }).click();
  await page.getByRole("row", { name: /Ben/ }).getByRole("button", { name: "Accept" }).click();
  await dialog.getByRole("button", { name: "Accept" }).click();
  await page.getByText("Ben has the item.").waitFor();
  await page.getByText("No open offer").waitFor();
}

/** Creates a candidate with a version of a pool, and with the usual limit unless another one is given. */
export async function createCandidate(
  page: Page,
  root: string,
  { pool, version, success }: { pool: string; version: number; success?: number },
): Promise<void> {
  await page.goto(`${root}/promotions`);
  await page.getByRole("button", { name: "New candidate" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("From the console");
  await dialog.getByLabel("Target").selectOption({ label: pool });
  await dialog.getByLabel("Version", { exact: true }).selectOption(String(version));
  if (success !== undefined) await dialog.getByLabel("Success of at least").fill(String(success));
  await dialog.getByRole("button", { name: "Create candidate" }).click();
  await page.getByRole("heading", { level: 1, name: "From the console" }).waitFor();
  await page.getByRole("button", { name: "Preflight" }).waitFor();
}

/** Sees where a run waits, and cancels its trigger. */
export async function cancelTrigger(page: Page, root: string, workflowKey: string): Promise<void> {
  await page.goto(`${root}/notifications?tab=runs`);
  await page.locator("a.row-link", { hasText: workflowKey }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It waits in the step later").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.getByRole("button", { name: "Cancel the trigger" }).click();
  await dialog.getByText("It ended early: cancelled.").waitFor();
}

/** Publishes an event with the data of an earlier one, but for its amount. */
export async function publishLike(page: Page, root: string, type: string, amount: number): Promise<void> {
  await page.goto(`${root}/events`);
  await page.getByRole("button", { name: "Publish" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Fill in from").selectOption({ index: 1 });
  await dialog.getByLabel("amount").waitFor();
  if ((await dialog.getByLabel("Type").inputValue()) !== type) throw new Error("the type is not filled in");
  await dialog.getByLabel("amount").fill(String(amount));
  await dialog.getByRole("button", { name: "Publish event" }).click();
  await dialog.getByText("No webhook endpoint got this event.").waitFor();
  await dialog.getByRole("link", { name: `Open ${type}` }).click();
  await page.waitForURL(/open=01/);
}

/** Starts a run. What its input needs is a form. */
export async function startRun(page: Page, root: string, name: string, order: string): Promise<void> {
  await page.goto(`${root}/workflows`);
  await page.getByRole("button", { name: "Start run" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Workflow").selectOption({ label: name });
  await dialog.getByLabel("Pieces").fill("3");
  await dialog.getByRole("button", { name: "Start run" }).click();
  await dialog.getByText("This field is required.").waitFor();
  await dialog.getByLabel("order").fill(order);
  await dialog.getByLabel("express").check();
  await dialog.getByRole("button", { name: "Start run" }).click();
  await page.waitForURL(/\/workflows\/runs\/01/);
}

/** Retries what failed: an item, a run and a message are rows of one list. */
export async function retryAllKinds(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/dead-letters`);
  for (const kind of ["Item", "Run", "Message"]) await page.getByRole("cell", { name: kind, exact: true }).waitFor();
  await page.getByLabel("Select all loaded rows").check();
  await page.getByRole("button", { name: "Retry 3" }).click();
  await page.getByText("The dead letters are tried again.").waitFor();
}
