import { catalogue } from "../../errors/index.ts";
import type { DescribedOperation } from "./described-operation.ts";
import type { EventTypes } from "./event-pages.ts";
import { serviceTitle } from "./page.ts";

/** What the search can find: its kind, its name, what it is about, and its address relative to the root. */
export type SearchEntry = readonly [
  kind: "Operation" | "Error" | "Event" | "Guide",
  title: string,
  detail: string,
  href: string,
];

/** Lists everything that has a page or a section in the reference. */
export function listSearchEntries(
  described: readonly DescribedOperation[],
  eventTypes: EventTypes,
  guides: readonly (readonly [path: string, title: string])[],
): SearchEntry[] {
  return [
    ...described.map(({ object, sampled: { verb, path, command } }): SearchEntry => {
      const [service = ""] = object.tags;
      const detail = [`${verb} ${path}`, serviceTitle(service), ...(command === undefined ? [] : [command])].join(
        " · ",
      );
      return ["Operation", object.summary, detail, `docs/services/${service}#${object.operationId}`];
    }),
    ...Object.entries(catalogue).map(([code, { title }]): SearchEntry => ["Error", code, title, `errors/${code}`]),
    ...Object.entries(eventTypes).map(
      ([type, [meaning]]): SearchEntry => ["Event", type, meaning, `docs/events/${type}`],
    ),
    ...guides.map(([path, title]): SearchEntry => ["Guide", title, "", path]),
  ];
}
