import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";

/** Layouts, whose templates need a content placeholder. */
export const layoutRequests: Known = {
  "LayoutService/CreateLayout": () => newLayout(),
  "LayoutService/UpdateLayout": async (party) => ({ ...newText(), id: await makeLayout(party), version: 1 }),
};

function newText(): Json {
  return { name: freshWord(), body: "<main>{{ content }}</main>" };
}

function newLayout(): Json {
  return { ...newText(), channel: "email" };
}

async function makeLayout(party: Party): Promise<string> {
  const { body } = await must("LayoutService/CreateLayout", party, newLayout());
  return body.data.id;
}
