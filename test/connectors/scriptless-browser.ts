/** A page that a browser shows. */
export interface ShownPage {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Navigation {
  readonly method?: "GET" | "POST";
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The page that causes it. */
  readonly from?: string;
}

/** A browser without scripts: cookies, redirects, forms and refreshes. */
export class ScriptlessBrowser {
  /** By host and name; browsers do not separate cookies by port. */
  readonly cookies = new Map<string, string>();
  /** The addresses that were requested. */
  readonly requested: string[] = [];

  /** Opens an address and follows its redirects. With `until`, a redirect to an address with this start is not followed. */
  async open(address: string, navigation: Navigation = {}, until?: string): Promise<ShownPage> {
    let { method = "GET", form } = navigation;
    let url = address.replace(/#.*/, "");
    let site = navigation.from === undefined ? "none" : siteOf(navigation.from, url);
    for (let hops = 0; hops < 20; hops++) {
      this.requested.push(url);
      const response = await fetch(url, {
        method,
        redirect: "manual",
        headers: {
          cookie: this.#cookiesFor(url),
          "sec-fetch-site": site,
          "sec-fetch-dest": "document",
          ...navigation.headers,
        },
        ...(form !== undefined && { body: new URLSearchParams(form) }),
      });
      for (const header of response.headers.getSetCookie()) this.#keep(url, header);
      const location = response.headers.get("location");
      const next = location === null ? undefined : new URL(location, url).href;
      if (next === undefined || (until !== undefined && next.startsWith(until))) {
        return { url: next ?? url, status: response.status, headers: response.headers, text: await response.text() };
      }
      if (siteOf(url, next) === "cross-site") site = "cross-site";
      [url, method, form] = [next, "GET", undefined];
    }
    throw new Error(`${address} redirects too often`);
  }

  /** Opens the link of a session as the page's script would: it sends the token of the fragment. */
  async openLink(connectUrl: string): Promise<ShownPage> {
    const page = await this.open(connectUrl);
    const token = new URLSearchParams(new URL(connectUrl).hash.slice(1)).get("token")!;
    return this.submit(page, { token }, "/open");
  }

  /** Submits the form of a page whose action ends so. */
  submit(page: ShownPage, values: Readonly<Record<string, string>>, action = "", until?: string): Promise<ShownPage> {
    for (const [, attributes, content] of page.text.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)) {
      const target = /action="([^"]*)"/.exec(attributes!)?.[1] ?? "";
      if (!target.endsWith(action)) continue;
      const form: Record<string, string> = {};
      for (const [, input] of content!.matchAll(/<input([^>]*)>/g)) {
        const name = /name="([^"]*)"/.exec(input!)?.[1];
        if (name !== undefined) form[name] = decodeText(/value="([^"]*)"/.exec(input!)?.[1] ?? "");
      }
      const url = new URL(target, page.url).href;
      return this.open(url, { method: "POST", form: { ...form, ...values }, from: page.url }, until);
    }
    throw new Error(`The page has no form with the action ${action}: ${page.text}`);
  }

  /** The address to which a page refreshes. */
  refreshOf(page: ShownPage): string {
    const found = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(page.text);
    if (found === null) throw new Error(`The page does not refresh: ${page.status} ${page.text}`);
    return decodeText(found[1]!);
  }

  #cookiesFor(url: string): string {
    const { hostname } = new URL(url);
    const own = [...this.cookies].filter(([key]) => key.startsWith(`${hostname} `));
    return own.map(([key, value]) => `${key.slice(hostname.length + 1)}=${value}`).join("; ");
  }

  #keep(url: string, header: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(header)!;
    const key = `${new URL(url).hostname} ${name}`;
    if (/expires=Thu, 01 Jan 1970|max-age=0/i.test(header)) this.cookies.delete(key);
    else this.cookies.set(key, value!);
  }
}

function siteOf(from: string, to: string): "same-origin" | "same-site" | "cross-site" {
  const [source, target] = [new URL(from), new URL(to)];
  if (source.origin === target.origin) return "same-origin";
  return source.hostname === target.hostname ? "same-site" : "cross-site";
}

function decodeText(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))).replaceAll("&amp;", "&");
}
