import type { NewCandidateArtifact } from "@client/gen/promotion";
import { useEffect, useId, useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { Button } from "../../ui/button";
import { words } from "../../ui/format";
import { Name } from "../../ui/name";
import { type ArtifactKind, readableKinds, readTargets, readVersions } from "./artifact-source";

interface Props {
  readonly id: string;
  /** The chosen versions as JSON, or nothing. */
  readonly text: string;
  readonly set: (text: string) => void;
}

type Chosen = NewCandidateArtifact & { readonly name: string };

/** Chooses versions: a kind, a target, and one of its versions. Each target can be chosen once. */
export function ArtifactPicker({ id, text, set }: Props) {
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const [added, setAdded] = useState<readonly NewCandidateArtifact[]>(() => (text === "" ? [] : JSON.parse(text)));
  const [choice, choose] = useState<NewCandidateArtifact>();
  // Without an added version, the one that is chosen is meant.
  useEffect(() => {
    const meant = added.length > 0 || choice === undefined ? added : [choice];
    set(meant.length === 0 ? "" : JSON.stringify(meant));
  }, [added, choice]);
  const add = ({ name, ...artifact }: Chosen) => {
    setNames({ ...names, [artifact.ref]: name });
    setAdded([...added.filter(({ ref }) => ref !== artifact.ref), artifact]);
  };
  return (
    <div class="stack">
      <Choice add={add} choose={choose} id={id} />
      {added.length === 0 ? (
        <span class="hint">
          The chosen version is promoted. To promote several targets together, add each. Versions of a pool are staged
          on its page, under Strategy.
        </span>
      ) : (
        <ul class="stack">
          {added.map(({ kind, ref, version }) => (
            <li class="filters" key={ref}>
              <strong>{names[ref] ?? <Name id={ref} plain />}</strong>
              <span class="soft">
                {words(kind).toLowerCase()}, version {version}
              </span>
              <span class="spacer" />
              <Button onClick={() => setAdded(added.filter((each) => each.ref !== ref))} small tone="quiet">
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly id: string;
  readonly add: (chosen: Chosen) => void;
  readonly choose: (choice: NewCandidateArtifact | undefined) => void;
}

function Choice({ id, add, choose }: ChoiceProps) {
  const kinds = readableKinds();
  const [kind, setKind] = useState<ArtifactKind>(kinds[0] ?? "routing");
  const [wantedTarget, setTarget] = useState("");
  const [wantedVersion, setVersion] = useState("");
  const targets = useQuery(`artifact targets ${kind}`, () => readTargets(kind)).data ?? [];
  const target = targets.find((each) => each.id === wantedTarget) ?? targets[0];
  const versions =
    useQuery(target && `artifact versions ${kind} ${target.id}`, () => readVersions(kind, target!.id)).data ?? [];
  // A version that is not active yet is what people promote.
  const version =
    versions.find((each) => String(each.version) === wantedVersion) ??
    versions.find(({ isActive }) => !isActive) ??
    versions[0];
  const ref = target?.id;
  const number = version?.version;
  useEffect(
    () => choose(ref === undefined || number === undefined ? undefined : { kind, ref, version: number }),
    [kind, ref, number],
  );
  const targetId = useId();
  const versionId = useId();
  return (
    <div class="form-row">
      <select
        aria-label="Kind of the version"
        class="select"
        id={id}
        onChange={(event) => setKind(event.currentTarget.value as ArtifactKind)}
        value={kind}
      >
        {kinds.map((each) => (
          <option key={each} value={each}>
            {words(each)}
          </option>
        ))}
      </select>
      <div>
        <label class="visually-hidden" for={targetId}>
          Target
        </label>
        <select
          class="select"
          id={targetId}
          onChange={(event) => {
            setTarget(event.currentTarget.value);
            setVersion("");
          }}
          value={target?.id ?? ""}
        >
          {target === undefined && <option value="">None exists</option>}
          {targets.map(({ id: value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label class="visually-hidden" for={versionId}>
          Version
        </label>
        <select
          class="select"
          id={versionId}
          onChange={(event) => setVersion(event.currentTarget.value)}
          value={version === undefined ? "" : String(version.version)}
        >
          {version === undefined && <option value="">No version</option>}
          {versions.map(({ version: number, isActive, message }) => (
            <option key={number} value={String(number)}>
              {`Version ${number}${isActive ? ", active" : ""}${message === "" ? "" : `: ${message}`}`}
            </option>
          ))}
        </select>
      </div>
      <Button
        disabled={target === undefined || version === undefined}
        onClick={() => add({ kind, ref: target!.id, name: target!.name, version: version!.version })}
      >
        Add version
      </Button>
    </div>
  );
}
