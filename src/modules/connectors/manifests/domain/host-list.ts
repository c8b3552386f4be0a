/** The hosts that requests of a provider may reach. */
export interface HostList {
  /** As written: exact names, names with a leading wildcard label, and `{settings.x}` for the host that a setting names. */
  readonly patterns: readonly string[];
  /** Whether a URL may be called with a connection's settings. The scheme must be https, except for loopback hosts. */
  allows(url: URL, settings: Readonly<Record<string, unknown>>): boolean;
}
