import type { ChannelContent } from "@client/gen/notification-workflow";
import { useState } from "preact/hooks";
import { Button } from "../../../ui/button";

interface Props {
  readonly locales: ChannelContent["locales"];
  readonly locale: string;
  readonly setLocale: (locale: string) => void;
  readonly change: (locales: ChannelContent["locales"]) => void;
  readonly isReadOnly: boolean;
}

const emptyTexts = { subject: "", title: "", body: "", text_body: "" };

/** The languages of a content: chooses the one whose texts are shown, and adds and removes others. */
export function Locales({ locales, locale, setLocale, change, isReadOnly }: Props) {
  const [added, setAdded] = useState("");
  const add = () => {
    change({ ...locales, [added]: locales[added] ?? emptyTexts });
    setLocale(added);
    setAdded("");
  };
  const remove = () => {
    const { [locale]: _, ...others } = locales;
    change(others);
    setLocale("");
  };
  return (
    <div class="filters">
      <fieldset aria-label="Language" class="segmented">
        {["", ...Object.keys(locales)].map((each) => (
          <button aria-pressed={each === locale} key={each} onClick={() => setLocale(each)} type="button">
            {each || "Default"}
          </button>
        ))}
      </fieldset>
      <span class="spacer" />
      {!isReadOnly && locale !== "" && (
        <Button onClick={remove} small tone="quiet">
          Remove language
        </Button>
      )}
      {!isReadOnly && (
        <>
          <input
            aria-label="Language to add"
            class="input code"
            onInput={(event) => setAdded(event.currentTarget.value.trim())}
            placeholder="de or pt-BR"
            size={10}
            value={added}
          />
          <Button disabled={added === ""} onClick={add} small>
            Add language
          </Button>
        </>
      )}
    </div>
  );
}
