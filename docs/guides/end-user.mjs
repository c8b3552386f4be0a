// Plays the end user of a connect session, for a try without a browser. It opens the link, fills in the form and submits it.
//
//   node docs/guides/end-user.mjs [--field <name>] <connect_url> [<input>=<value> …]
//
// It prints JSON: the heading of the page that an end user would see, and the query with which they would return to the
// application. With --field it prints only one of these values.
const options = process.argv.slice(2);
const field = options[0] === "--field" ? options.splice(0, 2)[1] : undefined;
const [link, ...pairs] = options;
const { hash, href } = new URL(link);
const address = href.replace(hash, "");
let cookie = "";

async function post(action, fields) {
  const body = new URLSearchParams(fields);
  return fetch(`${address}/${action}`, { method: "POST", redirect: "manual", headers: { cookie }, body });
}

// The page's script does this: it sends the token of the fragment, and gets a cookie for it.
const opened = await post("open", { token: new URLSearchParams(hash.slice(1)).get("token") });
cookie = (opened.headers.get("set-cookie") ?? "").replace(/;.*/, "");
let page = await (await fetch(address, { headers: { cookie } })).text();

if (pairs.length > 0) {
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  const fields = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])) };
  for (const pair of pairs) fields[pair.slice(0, pair.indexOf("="))] = pair.slice(pair.indexOf("=") + 1);
  const response = await post("submit", fields);
  const next = response.headers.get("location");
  page = await (next === null ? response : await fetch(new URL(next, address), { headers: { cookie } })).text();
}
const decode = (text) => text?.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code)) ?? "";
const returned = decode(/http-equiv="refresh" content="0;url=([^"]*)"/.exec(page)?.[1]);
const query = returned === "" ? {} : Object.fromEntries(new URL(returned).searchParams);
const result = { heading: decode(/<h1>([^<]*)/.exec(page)?.[1]), ...query };
console.log(field === undefined ? JSON.stringify(result) : result[field]);
