/** Descriptions of the patterns in definitions, in words and with an example. */
const descriptions: Readonly<Record<string, string>> = {
  "^[a-z0-9]([._]?[a-z0-9])*$":
    "must be lower-case letters and digits, separated by single dots or underscores (for example: order.paid)",
  "^[a-z0-9]([._-]?[a-z0-9])*$":
    "must be lower-case letters and digits, separated by single dots, underscores or hyphens (for example: order-desk)",
  "^([a-z0-9]([._-]?[a-z0-9])*)?$":
    "must be empty, or lower-case letters and digits, separated by single dots, underscores or hyphens (for example: order-desk)",
  "^[a-zA-Z0-9]([._-]?[a-zA-Z0-9])*$":
    "must be letters and digits, separated by single dots, underscores or hyphens (for example: order-desk)",
  "^[a-z][a-z0-9_]{0,62}$":
    "must start with a lower-case letter, followed by at most 62 lower-case letters, digits or underscores (for example: order_desk)",
  "^[a-z][a-z0-9_]{0,63}$":
    "must start with a lower-case letter, followed by at most 63 lower-case letters, digits or underscores (for example: order_desk)",
  "^[a-z][a-z0-9_-]{0,62}$":
    "must start with a lower-case letter, followed by at most 62 lower-case letters, digits, underscores or hyphens (for example: order-desk)",
  "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$":
    "must be at most 63 lower-case letters, digits or hyphens, and neither start nor end with a hyphen (for example: acme-corp)",
  "^[a-z][a-z0-9_.]{0,126}(\\.\\*)?$":
    "must be an event type, or a prefix of one followed by .* (for example: order.paid or order.*)",
  "^[a-z0-9_.]*$": "must be lower-case letters, digits, underscores or dots (for example: provider.timeout)",
  "^[a-z_]{1,40}(\\.[a-z_]{1,40})?$":
    "must be one or two names of lower-case letters and underscores, separated by a dot (for example: admission.singleton)",
  "^[a-z][a-z0-9_]{0,62}(\\.[a-z0-9_]{1,63}){1,4}$":
    "must be two to five names of lower-case letters, digits and underscores, separated by dots (for example: order.paid)",
  "^[A-Za-z][A-Za-z0-9_./-]{0,127}$":
    "must start with a letter, followed by at most 127 letters, digits, underscores, dots, slashes or hyphens (for example: Orders/v1)",
  "^([a-z][a-z0-9_.]{0,62}|\\*):([a-z][a-z0-9_]{0,62}|\\*)$":
    "must be a resource and an action, separated by a colon; either may be * (for example: pool:read or pool:*)",
  "^([01][0-9]|2[0-3]):[0-5][0-9]$": "must be a time from 00:00 to 23:59 (for example: 09:30)",
};

/** Describes a pattern in words; a pattern without a description is shown as it is. */
export function describePattern(pattern: string): string {
  return descriptions[pattern] ?? `must match ${pattern}`;
}
