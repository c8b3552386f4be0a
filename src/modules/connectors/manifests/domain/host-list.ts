/** The hosts that requests of a provider may reach. */
export interface HostList {
  /** As written: exact names, names with one wildcard label, and `{settings.x}` for the host that a setting names. */
  readonly patterns: readonly string[];
  /** Whether a URL may be called with a connection's settings. The scheme must be https, except for loopback hosts. */
  allows(url: URL, settings: Readonly<Record<string, unknown>>): boolean;
}

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const settingPattern = /^\{settings\.([a-z][a-z0-9_]*)\}$/;

/** The name of the setting that a pattern refers to; undefined if it is a host name. */
export function hostSettingOf(pattern: string): string | undefined {
  return settingPattern.exec(pattern)?.[1];
}

/** Creates a list of valid patterns. */
export function createHostList(patterns: readonly string[]): HostList {
  const settingNames = patterns.flatMap((each) => hostSettingOf(each) ?? []);
  const fixed = patterns.filter((each) => hostSettingOf(each) === undefined).map(parsePattern);
  return {
    patterns,
    allows(url, settings) {
      const { protocol, hostname, port, username, password } = url;
      if (username !== "" || password !== "") return false;
      const isLoopback = loopback.has(hostname);
      if (protocol !== "https:" && !(protocol === "http:" && isLoopback)) return false;
      return (
        fixed.some((each) => each.labels.matches(hostname) && (isLoopback || each.port === port)) ||
        settingNames.some((name) => {
          const own = hostOfSetting(settings[name]);
          return own !== undefined && own.hostname === hostname && (isLoopback || own.port === port);
        })
      );
    },
  };
}

/** The host that a setting names, as a URL or as a bare name. */
function hostOfSetting(value: unknown): URL | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  return URL.parse(value.includes("://") ? value : `https://${value}`) ?? undefined;
}

function parsePattern(pattern: string) {
  const [, name = "", port = ""] = /^(.*?)(?::(\d+))?$/.exec(pattern)!;
  return { labels: labelMatcher(name.toLowerCase()), port: port === "443" ? "" : port };
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
