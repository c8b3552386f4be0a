/** The hosts that requests of a provider may reach. */
export type HostList = ReturnType<typeof createHostList>;

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const anyPort = "*";
const settingPattern = /^\{settings\.([a-z][a-z0-9_]*)\}$/;

/** The name of the setting that a pattern refers to; undefined if it is a host name. */
export function hostSettingOf(pattern: string): string | undefined {
  return settingPattern.exec(pattern)?.[1];
}

/** Creates a list of valid patterns. */
export function createHostList(patterns: readonly string[]) {
  const settingNames = patterns.flatMap((each) => hostSettingOf(each) ?? []);
  const fixed = patterns.filter((each) => hostSettingOf(each) === undefined).map(parsePattern);
  return {
    /** As written: exact names, names with one wildcard label, and `{settings.x}` for the host that a setting names. */
    patterns,
    /** Whether a URL may be called with a connection's settings. The scheme must be https, except for loopback hosts. */
    allows(url: URL, settings: Readonly<Record<string, unknown>>) {
      const { protocol, hostname, username, password } = url;
      if (username !== "" || password !== "") return false;
      if (protocol !== "https:" && !(protocol === "http:" && loopback.has(hostname))) return false;
      const isPort = (declared: string) => declared === anyPort || declared === portOf(url);
      return (
        fixed.some((each) => each.labels.matches(hostname) && isPort(each.port)) ||
        settingNames.some((name) => {
          const own = hostOfSetting(settings[name]);
          return own !== undefined && own.hostname === hostname && isPort(own.port);
        })
      );
    },
  };
}

/** The host that a setting names, as a URL or as a bare name. */
function hostOfSetting(value: unknown): { readonly hostname: string; readonly port: string } | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const isUrl = value.includes("://");
  const url = URL.parse(isUrl ? value : `https://${value}`);
  if (url === null) return undefined;
  const { hostname, port } = url;
  return { hostname, port: isUrl ? portOf(url) : port || defaultPort(hostname) };
}

function parsePattern(pattern: string) {
  const [, written = "", port] = /^(.*?)(?::(\d+))?$/.exec(pattern)!;
  const name = written.toLowerCase();
  return { labels: labelMatcher(name), port: port ?? defaultPort(name) };
}

function portOf({ protocol, port }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

/** Servers of a developer's own machine have changing ports. */
function defaultPort(hostname: string): string {
  return loopback.has(hostname) ? anyPort : "443";
}

function labelMatcher(name: string): { matches(hostname: string): boolean } {
  if (!name.includes("*")) return { matches: (hostname) => hostname === name };
  const labels = name.split(".");
  return {
    matches(hostname) {
      const own = hostname.split(".");
      return (
        own.length === labels.length &&
        labels.every((label, at) => (label === "*" ? own[at] !== "" : label === own[at]))
      );
    },
  };
}
