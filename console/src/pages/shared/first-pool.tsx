import type { ComponentChildren } from "preact";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { Empty, samplesOf } from "../../ui/empty";

/** What is shown where nothing can be until there is a pool. */
export function FirstPool({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <Empty
      action={
        can("pool:write") && (
          <a class="button primary" href={href("pools", { do: "new" })}>
            New pool
          </a>
        )
      }
      samples={samplesOf({
        path: "/api/pools",
        body: { name: "support", strategy: "least_loaded" },
        cli: "pool create --name support --strategy least_loaded",
        sdk: `pools.create({ name: "support", strategy: "least_loaded" })`,
      })}
      title={title}
    >
      {children}
    </Empty>
  );
}
