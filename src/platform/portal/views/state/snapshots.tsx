import { useState } from "preact/hooks";
import type { SnapshotView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useKeys } from "../../keys/keys.ts";
import { useLive } from "../../live/use-live.ts";
import { Empty, Failure, save, Time } from "../../parts/bits.tsx";
import { Confirmed } from "../../parts/confirm.tsx";
import { bytes } from "../../parts/duration.ts";
import { TextField } from "../../parts/fields.tsx";
import { FileButton } from "../../parts/file-button.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { useListFocus } from "../../parts/list-focus.ts";
import { attempt } from "../../parts/toast.tsx";
import { fileName } from "./names.ts";

/** Copies of the whole state to come back to. */
export function Snapshots() {
  const { data, error, reload } = useLive(control.snapshots, {
    key: "snapshots",
    concerns: ({ kind }) => kind === "state",
  });
  const [name, setName] = useState("");
  const snapshots = data?.items ?? [];
  const heading = useListFocus<HTMLHeadingElement>(snapshots.length);
  const take = async () => {
    await control.takeSnapshot(name.trim() === "" ? undefined : name.trim());
    setName("");
    await reload();
  };
  const taken = "The snapshot is taken.";
  useKeys([
    { key: "t", label: "Take a snapshot", group: "State", run: () => void attempt(take, taken) },
  ]);
  return (
    <section class="card" aria-labelledby="state-snapshots">
      <h2 id="state-snapshots" ref={heading} tabIndex={-1}>
        Snapshots ({snapshots.length})
      </h2>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined && snapshots.length === 0 && (
        <Empty title="No snapshot yet">
          Take one before you try something: everything can be put back to it. They end with the
          platform; download what is to stay.
        </Empty>
      )}
      <ul class="list">
        {[...snapshots].reverse().map((snapshot) => (
          <Line key={snapshot.id} snapshot={snapshot} reload={reload} />
        ))}
      </ul>
      <Form
        label="New snapshot"
        submit="Take a snapshot"
        run={take}
        done={taken}
        more={
          <>
            <kbd>t</kbd>
            <FileButton
              label="Upload a file…"
              accept=".db,application/vnd.sqlite3"
              onFiles={([file]) => {
                if (file === undefined) return;
                void attempt(() => upload(file), "The file is a snapshot now.");
              }}
            />
          </>
        }
      >
        <TextField
          label="Name of the snapshot"
          maxLength={100}
          placeholder="before the demo"
          value={name}
          onValue={setName}
        />
      </Form>
    </section>
  );

  async function upload(file: File): Promise<void> {
    await control.uploadSnapshot(file, file.name.slice(0, 100));
    await reload();
  }
}

interface LineProps {
  readonly snapshot: SnapshotView;
  readonly reload: () => Promise<void>;
}

function Line({ snapshot: { id, name, at, bytes: size }, reload }: LineProps) {
  return (
    <li>
      <span class="grow">
        <strong>{name}</strong> <Time at={at} /> <span class="hint">{bytes(size)}</span>
      </span>
      <Confirmed
        ask="Restore…"
        label={`Restore ${name}`}
        title={`Put everything back to “${name}”?`}
        confirm="Restore"
        tone="primary"
        small
        done={`Everything is as it was in “${name}”.`}
        run={() => control.restoreSnapshot(id)}
      >
        <p>
          People, content, events, tokens, secrets, the webhook, limits and the clock are replaced,
          and faults end. What happened since is gone, unless you take a snapshot first.
        </p>
      </Confirmed>
      <Action
        small
        label={`Download ${name}`}
        run={async () => save(fileName(name, new Date(at), "db"), await control.snapshotFile(id))}
      >
        Download
      </Action>
      <Confirmed
        ask="Remove…"
        label={`Remove ${name}`}
        title={`Remove “${name}”?`}
        confirm="Remove"
        small
        done={`“${name}” is removed.`}
        run={async () => {
          await control.removeSnapshot(id);
          await reload();
        }}
      >
        <p>The state stays as it is; it cannot be put back to this snapshot any more.</p>
      </Confirmed>
    </li>
  );
}
