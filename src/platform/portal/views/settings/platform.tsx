import type { SnapshotView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { ticking } from "../../live/second.ts";
import { bot } from "../../live/settings.ts";
import { useLive } from "../../live/use-live.ts";
import { save, Time } from "../../parts/bits.tsx";
import { Card, ListCard } from "../../parts/card.tsx";
import { bytes } from "../../parts/duration.ts";
import { FileButton } from "../../parts/file-button.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { Item } from "../../parts/list.tsx";
import { attempt } from "../../parts/toast.tsx";
import { resetClock } from "../../shell/banner.tsx";
import { isRefused, offsetAt, type ReadClock, toPlatformTime } from "./clock.ts";
import { fileName, limitNames, limitTexts, usage } from "./names.ts";

export function Limits() {
  const live = useLive(control.limitsOf, {
    key: bot.value,
    concerns: ({ kind }) => kind === "api" || kind === "state",
  });
  const { data } = live;
  return (
    <Card
      title="Limits"
      hint="A request above a limit gets 429 and Retry-After. Leave a field empty for no limit."
      live={live}
    >
      {data !== undefined && (
        <Form
          keeps
          label="Limits"
          submit="Save limits"
          fields={limitNames.map((name) => ({
            name,
            label: limitTexts[name],
            hint: usage(data[name]),
            kind: "number",
            min: 0,
            max: 1_000_000,
            placeholder: "no limit",
            value: String(data[name].limit ?? ""),
          }))}
          run={(values) => {
            const limits = limitNames.map((name) => {
              const text = values.text(name);
              return [name, text === "" ? null : Number(text)] as const;
            });
            return control.setLimits(Object.fromEntries(limits));
          }}
          done="Saved the limits."
        />
      )}
    </Card>
  );
}

const steps: readonly (readonly [string, number])[] = [
  ["30 s", 30_000],
  ["5 min", 300_000],
  ["1 h", 3_600_000],
  ["1 day", 86_400_000],
];

async function readClock(): Promise<ReadClock> {
  const view = await control.clock.view();
  return { view, readAt: Date.now() };
}

export function Clock() {
  const live = useLive(readClock, { key: "clock", concerns: ({ kind }) => kind === "state" });
  const frozen = live.data?.view.frozen === true;
  return (
    <Card title="Clock" hint="Events, signatures, quotas and retries use this clock." live={live}>
      {live.data !== undefined && <Face clock={live.data} />}
      <div class="row">
        {steps.map(([label, advanceMs]) => (
          <Action
            key={label}
            label={`Advance the clock by ${label}`}
            run={() => control.clock.set({ advanceMs })}
          >
            + {label}
          </Action>
        ))}
        <Action run={() => control.clock.set({ frozen: !frozen })}>
          {frozen ? "Start" : "Freeze"}
        </Action>
        <Action run={resetClock}>Reset</Action>
      </div>
      <Form
        label="Set the clock"
        submit="Set"
        fields={[
          {
            name: "now",
            label: "Set to (UTC)",
            kind: "datetime-local",
            step: 1,
            required: true,
          },
        ]}
        run={(values) =>
          control.clock.set({ now: new Date(`${values.text("now")}Z`).toISOString() })
        }
      />
    </Card>
  );
}

/** Advances the displayed time without requests to the platform. */
function Face({ clock }: { readonly clock: ReadClock }) {
  const at = Math.max(ticking.value, clock.readAt);
  const shown = new Date(toPlatformTime(clock, at)).toISOString();
  return (
    <>
      <time class="clock" dateTime={shown}>
        {shown.slice(0, 19).replace("T", " ")} UTC
      </time>
      {isRefused(offsetAt(clock, at)) && (
        <p class="note warn">
          A bot that uses the machine's time now rejects deliveries with 400, because their
          signatures are more than 300 s off. The bot polls instead.
        </p>
      )}
    </>
  );
}

export function Snapshots() {
  const live = useLive(control.snapshots.list, {
    key: "snapshots",
    concerns: ({ kind }) => kind === "state",
  });
  const upload = ([file]: readonly File[]) => {
    if (file === undefined) return;
    const name = file.name.slice(0, 100);
    const bytes = new Blob([file], { type: "application/vnd.sqlite3" });
    void attempt(() => control.snapshots.upload(bytes, name), `Uploaded ${name}.`);
  };
  return (
    <ListCard
      title="Snapshots"
      hint="Copies of the whole state. They are lost when the platform stops. Download them to keep them."
      head={<Reset />}
      live={live}
      items={live.data?.toReversed().map(snapshotItem)}
    >
      <Form
        label="New snapshot"
        submit="Take snapshot"
        fields={[{ name: "name", label: "Name", maxLength: 100, placeholder: "before the demo" }]}
        run={(values) => control.snapshots.take(values.text("name") || undefined)}
        more={
          <FileButton
            label="Upload…"
            name="Upload a snapshot"
            accept=".db,application/vnd.sqlite3"
            onFiles={upload}
          />
        }
      />
    </ListCard>
  );
}

function Reset() {
  return (
    <Action
      small
      tone="danger"
      run={control.reset}
      done="Reset the platform."
      confirm={{
        title: "Reset the platform?",
        text: "The state returns to its initial content, with Ada, Ben and the first bot. The limits return to their startup values, and the clock to the machine's time. The first bot keeps its tokens and its secret, but its webhook loses its URL. Snapshots are kept.",
        submit: "Reset",
      }}
    >
      Reset platform…
    </Action>
  );
}

function snapshotItem({ id, name, at, bytes: size }: SnapshotView) {
  const actions = (
    <>
      <Action
        small
        label={`Restore ${name}`}
        run={() => control.snapshots.restore(id)}
        done={`Restored “${name}”.`}
        confirm={{
          title: `Restore “${name}”?`,
          text: "Users, content, events, tokens, secrets, the webhook, limits and the clock are replaced, and faults end. Changes since the snapshot are lost unless you take another snapshot first.",
          submit: "Restore",
        }}
      >
        Restore…
      </Action>
      <Action
        small
        label={`Download ${name}`}
        run={async () => save(fileName(name, new Date(at)), await control.snapshots.file(id))}
      >
        Download
      </Action>
      <Action small tone="danger" label={`Delete ${name}`} run={() => control.snapshots.remove(id)}>
        Delete
      </Action>
    </>
  );
  return (
    <Item key={id} actions={actions}>
      <strong>{name}</strong> <Time at={at} /> <span class="hint">{bytes(size)}</span>
    </Item>
  );
}
