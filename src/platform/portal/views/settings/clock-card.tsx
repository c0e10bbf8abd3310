import { useState } from "preact/hooks";
import type { ClockChange } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { ticking } from "../../live/second.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import { DateTimeField } from "../../parts/fields.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { resetClock } from "../../shell/banner.tsx";
import { isRefused, offsetAt, type ReadClock, shownTime, typedTime } from "./clock.ts";

const steps: readonly (readonly [string, number])[] = [
  ["30 s", 30_000],
  ["5 min", 300_000],
  ["1 h", 3_600_000],
  ["1 day", 86_400_000],
];

async function readClock(): Promise<ReadClock> {
  const view = await control.clock();
  return { view, readAt: Date.now() };
}

/** The platform's clock, and what moves it. */
export function Clock() {
  const { data, error, reload } = useLive(readClock, {
    key: "clock",
    concerns: ({ kind }) => kind === "state",
  });
  const [typed, setTyped] = useState("");
  const set = async (change: ClockChange) => {
    await control.setClock(change);
    await reload();
  };
  const frozen = data?.view.frozen === true;
  return (
    <section class="card" aria-labelledby="settings-clock">
      <h2 id="settings-clock">Clock</h2>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined && <Shown clock={data} />}
      <p class="hint">Events, signatures, quotas and retries go by it.</p>
      <div class="row">
        {steps.map(([label, advanceMs]) => (
          <Action
            key={label}
            label={`Advance the clock by ${label}`}
            run={() => set({ advanceMs })}
          >
            + {label}
          </Action>
        ))}
        <Action run={() => set({ frozen: !frozen })}>{frozen ? "Start" : "Freeze"}</Action>
        <Action
          run={async () => {
            await resetClock();
            await reload();
          }}
        >
          Reset
        </Action>
      </div>
      <Form
        label="Set the clock"
        submit="Set"
        tone="plain"
        run={() => set({ now: typedTime(typed) })}
      >
        <DateTimeField label="Set to (UTC)" value={typed} onValue={setTyped} />
      </Form>
    </section>
  );
}

/** Moves by itself, without a request. */
function Shown({ clock }: { readonly clock: ReadClock }) {
  const at = Math.max(ticking.value, clock.readAt);
  const shown = new Date(shownTime(clock, at)).toISOString();
  return (
    <>
      <p>
        <time class="clock" dateTime={shown}>
          {shown.slice(0, 19).replace("T", " ")} UTC
        </time>
      </p>
      {isRefused(offsetAt(clock, at)) && (
        <p class="note warn">
          A bot with the machine's time refuses deliveries now, because their signatures are more
          than 300 s off. It answers with 400, and polls instead.
        </p>
      )}
    </>
  );
}
