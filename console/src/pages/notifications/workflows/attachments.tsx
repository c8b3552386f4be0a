import type { ChannelContent, MailAttachment } from "@client/gen/notification-workflow";
import { Button } from "../../../ui/button";

interface Props {
  readonly files: readonly MailAttachment[];
  readonly isReadOnly: boolean;
  readonly change: (part: Partial<ChannelContent>) => void;
}

const fields = { filename: "File name", content_type: "Media type", content: "Content in base64" } as const;
const added: MailAttachment = { filename: "", content_type: "", content: "" };
const filesMax = 10;

/** The files of a mail: names and contents are templates. */
export function Attachments({ files, isReadOnly, change }: Props) {
  const set = (attachments: readonly MailAttachment[]) => change({ attachments });
  return (
    <fieldset class="field">
      <legend>Attachments</legend>
      {files.map((file, at) => (
        <div class="filters" key={at}>
          {(Object.keys(fields) as (keyof typeof fields)[]).map((name) => (
            <input
              aria-label={`${fields[name]} of attachment ${at + 1}`}
              class="input code"
              key={name}
              onInput={(event) => set(files.with(at, { ...file, [name]: event.currentTarget.value }))}
              placeholder={fields[name]}
              readOnly={isReadOnly}
              value={file[name]}
            />
          ))}
          {!isReadOnly && (
            <Button onClick={() => set(files.toSpliced(at, 1))} small tone="quiet">
              Remove
            </Button>
          )}
        </div>
      ))}
      {!isReadOnly && files.length < filesMax && (
        <Button onClick={() => set([...files, added])} small>
          Attach a file
        </Button>
      )}
    </fieldset>
  );
}
