import type { ComponentChildren } from "preact";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Code } from "../../ui/text";

interface Props {
  readonly title: string;
  readonly secret: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** Shows a secret once. It is kept nowhere and is gone when the dialog closes. */
export function SecretDialog({ title, secret, children, onClose }: Props) {
  return (
    <Dialog onClose={onClose} title={title}>
      <div class="dialog-body">
        <p class="soft">{children}</p>
        <Code label="Copy" text={secret} />
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose} tone="primary">
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
