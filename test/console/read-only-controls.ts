/** Buttons that change nothing: titles of columns, and what only changes the view. */
export const readOnlyControls =
  /^(Copy as curl|CSV|Copy|Copied|curl|CLI|TypeScript|Menu|Pause|Continue|Open|Close|Preview|Compare with \d+|Replay|Login link|Sign out|End|Show \d+ more|Email.*|Sms.*|Push.*|Chat.*|In app.*|([A-Z#][\w -]*[↑↓]?))?$/;
