import { useState } from "preact/hooks";
import type { ClockChange } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { ticking } from "../../live/second.ts";
import { useLive } from "../../live/use-live.ts";
import { Badge, Failure } from "../../parts/bits.tsx";
import { duration } from "../../parts/duration.ts";
import { DateTimeField } from "../../parts/fields.tsx";
import { Action, Form } from "../../parts/form.tsx";
import {
  fieldTime,
  isMachineTime,
  isRefused,
  machineTime,
  offsetAt,
  type ReadClock,
  shownTime,
  typedTime,
} from "./clock.ts";
import { readClock } from "./read-clock.ts";

const steps: readonly (readonly [string, number])[] = [
  ["30 s", 30_000],
  ["5 min", 300_000],
  ["1 h", 3_600_000],
  ["1 day", 86_400_000],
];

/** The platform's clock: what it shows, and what moves it. */
export function ClockCard() {
  const { data, error, reload } = useLive(readClock, {
    key: "clock",
    concerns: ({ kind }) => kind === "state",
  });
  const [typed, setTyped] = useState("");
  const set = async (change: ClockChange) => {
    await control.setClock(change);
    await reload();
  };
  return (
    <section class="card" aria-labelledby="fault-clock">
      <h2 id="fault-clock">Clock</h2>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined && <Shown clock={data} />}
      <p class="hint">
        Events, signatures, quotas and retries go by it: what is due after a jump happens at once.
      </p>
      <div class="row clock-steps">
        {steps.map(([label, advanceMs]) => (
          <Action
            key={label}
            label={`Move the clock on by ${label}`}
            run={() => set({ advanceMs })}
            done={`The clock has moved on by ${label}.`}
          >
            + {label}
          </Action>
        ))}
        <Action
          run={() => set({ frozen: data?.view.frozen !== true })}
          done={data?.view.frozen === true ? "The clock goes on." : "The clock stands still."}
        >
          {data?.view.frozen === true ? "Let it go on" : "Freeze"}
        </Action>
        <Action run={backToNow} done="The clock is the machine's again.">
          Back to now
        </Action>
      </div>
      <Form
        label="Set the clock"
        submit="Set"
        run={() => set({ now: typedTime(typed) })}
        done="The clock is set."
        more={
          data !== undefined && (
            <button
              type="button"
              class="quiet"
              onClick={() => setTyped(fieldTime(shownTime(data, Date.now())))}
            >
              What it shows now
            </button>
          )
        }
      >
        <DateTimeField label="Set to (UTC)" value={typed} onValue={setTyped} />
      </Form>
    </section>
  );

  async function backToNow(): Promise<void> {
    // Asked anew: while it is frozen, the machine's time is not what was read.
    const fresh = await readClock();
    await set({ now: new Date(machineTime(fresh, Date.now())).toISOString(), frozen: false });
  }
}

/** Moves by itself; the platform is not asked for it. */
function Shown({ clock }: { readonly clock: ReadClock }) {
  const at = Math.max(ticking.value, clock.readAt);
  const shown = new Date(shownTime(clock, at));
  const offset = offsetAt(clock, at);
  const { frozen } = clock.view;
  return (
    <>
      <p class="clock-now">
        <time dateTime={shown.toISOString()}>
          {shown.toISOString().slice(0, 19).replace("T", " ")} UTC
        </time>{" "}
        {frozen && <Badge tone="warn">stands still</Badge>}
        {!isMachineTime(offset) && (
          <Badge>
            {duration(offset)} {offset > 0 ? "ahead" : "behind"}
          </Badge>
        )}
        {isMachineTime(offset) && !frozen && <Badge tone="good">as the machine's</Badge>}
      </p>
      {isRefused(offset) && (
        <p class="note warn">
          A bot with the machine's time refuses deliveries now: the time of a signature may be 300 s
          from its own at most. It answers with 400, and reads the log instead. In a test, move the
          bot's clock along.
        </p>
      )}
    </>
  );
}
