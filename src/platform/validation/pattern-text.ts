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
  "^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$":
    "must start with a letter or digit, followed by at most 127 letters, digits, dots, underscores, slashes or hyphens (for example: orders/v1)",
  "^(\\*|[a-z][a-z0-9_.]{0,126}(\\.\\*)?)$":
    "must be *, an event type, or a prefix of one followed by .* (for example: order.paid or order.*)",
  "^([1-9][0-9]{0,8}|draft|active)?$": "must be the number of a version, draft or active (for example: 3)",
  "^[a-z0-9][a-z0-9-]*$":
    "must start with a lower-case letter or digit, followed by lower-case letters, digits or hyphens (for example: order-desk)",
  "^[a-z0-9]([_-]?[a-z0-9])*$":
    "must be lower-case letters and digits, separated by single underscores or hyphens (for example: order-desk)",
  "^[a-z0-9][a-z0-9_-]{0,63}$":
    "must start with a lower-case letter or digit, followed by at most 63 lower-case letters, digits, underscores or hyphens (for example: order-desk)",
  "^[a-z0-9][a-z0-9_-]{0,127}$":
    "must start with a lower-case letter or digit, followed by at most 127 lower-case letters, digits, underscores or hyphens (for example: dark-mode)",
  "^[a-z0-9][a-z0-9.-]{1,251}[a-z0-9]$": "must be a domain name in lower case (for example: example.com)",
  "^[a-zA-Z0-9!#$&^_.+-]+/[a-zA-Z0-9!#$&^_.+-]+$": "must be a media type (for example: application/pdf)",
  "^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$": "must be a language tag (for example: de or pt-BR)",
  "^[a-z0-9-]*$": "must be lower-case letters, digits or hyphens (for example: order-desk)",
  "^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$":
    "must start with a letter or digit, followed by at most 63 letters, digits, dots, underscores, plus signs or hyphens (for example: 1.4.0+build-7)",
  "^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}=": "must be a name, an equals sign and a value (for example: customer=acme)",
  "^[0-9a-f]{64}$": "must be a SHA-256 hash: 64 hexadecimal digits in lower case",
  "^(role|user):.+$": "must be role: or user:, followed by a name (for example: role:admin)",
  "^[a-z][a-z0-9_]*$":
    "must start with a lower-case letter, followed by lower-case letters, digits or underscores (for example: order_desk)",
  "^[a-z][a-z0-9._-]*$":
    "must start with a lower-case letter, followed by lower-case letters, digits, dots, underscores or hyphens (for example: order-desk)",
  "^[a-z](_?[a-z0-9])*$":
    "must start with a lower-case letter, followed by lower-case letters and digits, separated by single underscores (for example: order_desk)",
  "^[a-zA-Z0-9_.:/-]{1,128}$":
    "must be at most 128 letters, digits, underscores, dots, colons, slashes or hyphens (for example: order:7)",
  "^[a-z0-9_]*$": "must be lower-case letters, digits or underscores (for example: order_desk)",
  "^[a-z0-9][a-z0-9_.-]{0,63}$":
    "must start with a lower-case letter or digit, followed by at most 63 lower-case letters, digits, underscores, dots or hyphens (for example: order-desk)",
  "^[a-z0-9][a-z0-9-]*\\.[a-z0-9_.]+$":
    "must be a provider and its action, separated by a dot (for example: github.issue.create)",
  "^[a-z0-9](-?[a-z0-9])*$":
    "must be lower-case letters and digits, separated by single hyphens (for example: order-desk)",
  "^[!-~]*$": "must be printable ASCII characters without spaces",
  "^[A-Za-z0-9_-]*$": "must be letters, digits, underscores or hyphens",
  "^[A-Za-z0-9][A-Za-z0-9._:-]*$":
    "must start with a letter or digit, followed by letters, digits, dots, underscores, colons or hyphens (for example: order:7)",
  "^[A-Z]{3}$": "must be a currency of three capital letters (for example: EUR)",
  "^([a-z0-9][a-z0-9_-]{0,63})?$":
    "must be empty, or start with a lower-case letter or digit, followed by at most 63 lower-case letters, digits, underscores or hyphens (for example: order-desk)",
  "^([A-Za-z0-9_.+-]+/[A-Za-z0-9_.+-]+(;[ -~]*)?)?$": "must be a media type (for example: application/json)",
  "^([A-Za-z0-9][A-Za-z0-9._+-]{0,63})?$":
    "must be empty, or start with a letter or digit, followed by at most 63 letters, digits, dots, underscores, plus signs or hyphens (for example: 1.4.0+build-7)",
  "^([0-9a-f]{64})?$": "must be a SHA-256 hash: 64 hexadecimal digits in lower case",
  "^([0-9]{1,12}(ms|s|m|h|d))?$": "must be a number with a unit: ms, s, m, h or d (for example: 30s)",
  "^([1-9][0-9]{0,8}|active)$": "must be the number of a version, or active (for example: 3 or active)",
  "^([1-9][0-9]{0,8}|latest)$": "must be the number of a version, or latest (for example: 3 or latest)",
};

/** Describes a pattern in words; a pattern without a description is shown as it is. */
export function describePattern(pattern: string): string {
  return descriptions[pattern] ?? `must match ${pattern}`;
}
