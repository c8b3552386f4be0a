import { Button } from "./button";
import { messageOf } from "./format";
import { Notice } from "./text";

interface Props {
  /** What could not be done. */
  readonly title: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}

/** Something could not be read: what, why, and another try. */
export function Failure({ title, error, onRetry }: Props) {
  return (
    <Notice tone="bad">
      <strong>{title}</strong>
      <p>{messageOf(error)}</p>
      <Button onClick={onRetry} small>
        Try again
      </Button>
    </Notice>
  );
}
