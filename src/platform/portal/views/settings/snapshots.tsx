import { useState } from "preact/hooks";
import type { SnapshotView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure, save, Time } from "../../parts/bits.tsx";
import { Confirmed } from "../../parts/confirm.tsx";
import { bytes } from "../../parts/duration.ts";
import { TextField } from "../../parts/fields.tsx";
import { FileButton } from "../../parts/file-button.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { attempt } from "../../parts/toast.tsx";
import { fileName } from "./names.ts";

/** Copies of the whole state, and the reset. */
export function Snapshots() {
  const { data, error, reload } = useLive(control.snapshots, {
    key: "snapshots",
    concerns: ({ kind }) => kind === "state",
  });
  const [name, setName] = useState("");
  const take = async () => {
    await control.takeSnapshot(name.trim() === "" ? undefined : name.trim());
    setName("");
    await reload();
  };
  const upload = async (file: File) => {
    await control.uploadSnapshot(file, file.name.slice(0, 100));
    await reload();
  };
  return (
    <section class="card" aria-labelledby="settings-snapshots">
      <div class="head">
        <h2 id="settings-snapshots">Snapshots</h2>
        <Reset />
      </div>
      <p class="hint">
        Copies of the whole state. They are gone when the platform stops, unless you download them.
      </p>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <ul class="list">
        {data?.items.toReversed().map((snapshot) => (
          <Line key={snapshot.id} snapshot={snapshot} reload={reload} />
        ))}
      </ul>
      <Form
        label="New snapshot"
        submit="Take snapshot"
        tone="plain"
        run={take}
        more={
          <FileButton
            label="Upload…"
            name="Upload a snapshot"
            accept=".db,application/vnd.sqlite3"
            onFiles={([file]) => {
              if (file !== undefined)
                void attempt(() => upload(file), "The file is a snapshot now.");
            }}
          />
        }
      >
        <TextField
          label="Name"
          maxLength={100}
          placeholder="before the demo"
          value={name}
          onValue={setName}
        />
      </Form>
    </section>
  );
}

function Reset() {
  return (
    <Confirmed
      ask="Reset platform…"
      title="Reset the platform?"
      confirm="Reset"
      small
      done="The platform is reset."
      run={() => control.reset()}
    >
      <p>
        The bot, Ada and Ben stay, with the limits of the start and the machine's time. The first
        bot keeps its tokens and its secret; its webhook has no address then. Snapshots stay.
      </p>
    </Confirmed>
  );
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
        title={`Restore “${name}”?`}
        confirm="Restore"
        tone="primary"
        small
        done={`Restored “${name}”.`}
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
      <Action
        small
        tone="danger"
        label={`Delete ${name}`}
        run={async () => {
          await control.removeSnapshot(id);
          await reload();
        }}
      >
        Delete
      </Action>
    </li>
  );
}
