import { useEffect, useState } from "preact/hooks";
import type { LimitName, LimitView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { bot } from "../../live/settings.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure, Time } from "../../parts/bits.tsx";
import { NumberField } from "../../parts/fields.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { shownTime } from "./clock.ts";
import { limitNames, limitTexts, typedLimit, untilReset, usage } from "./limit-names.ts";
import { readClock } from "./read-clock.ts";

async function read() {
  const [limits, clock] = await Promise.all([control.limits(), readClock()]);
  return { limits, clock };
}

/** A moment later than the platform's, in milliseconds, so that it has counted anew. */
const AFTER_MS = 50;

/** The rate limit and the quotas, with what is used of them. */
export function LimitsCard() {
  const { data, error, reload } = useLive(read, {
    key: bot.value,
    concerns: ({ kind }) => kind === "api" || kind === "state",
  });
  useEffect(() => {
    // A minute that is over has no entry in the timeline.
    if (data === undefined || data.clock.view.frozen) return;
    const wait = untilReset(data.limits, shownTime(data.clock, Date.now()));
    if (wait === undefined) return;
    const timer = setTimeout(() => void reload(), wait + AFTER_MS);
    return () => clearTimeout(timer);
  }, [data, reload]);
  const set = async (name: LimitName, limit: number | null) => {
    await control.setLimits({ [name]: limit });
    await reload();
  };
  return (
    <section class="card" aria-labelledby="fault-limits">
      <h2 id="fault-limits">Limits</h2>
      <p class="hint">
        They hold for each app by itself; what is used is this bot's. A request above one is
        answered with 429 and Retry-After: the bot waits and says what it has to say later.
      </p>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <ul class="list">
        {data !== undefined &&
          limitNames.map((name) => (
            <Limit key={name} name={name} view={data.limits[name]} set={set} />
          ))}
      </ul>
    </section>
  );
}

interface LimitProps {
  readonly name: LimitName;
  readonly view: LimitView;
  readonly set: (name: LimitName, limit: number | null) => Promise<void>;
}

function Limit({ name, view, set }: LimitProps) {
  const [typed, setTyped] = useState("");
  const { label, code } = limitTexts[name];
  const { limit, used, resetsAt } = view;
  return (
    <li class="limit">
      <div class="limit-head">
        <strong>{label}</strong>
        <span class="hint">
          {usage(view)}, anew at <Time at={resetsAt} />
        </span>
      </div>
      {limit !== null && limit > 0 && (
        <meter min={0} max={limit} value={Math.min(used, limit)} aria-label={label} />
      )}
      <Form
        label={`Limit of ${label.toLowerCase()}`}
        submit="Set"
        tone="plain"
        run={async () => {
          await set(name, typedLimit(typed));
          setTyped("");
        }}
        done={`${label}: set. Above it the answer is 429 ${code}.`}
        more={
          <Action
            label={`Take away the limit of ${label.toLowerCase()}`}
            run={() => set(name, null)}
            done={`${label}: no limit.`}
          >
            Take away
          </Action>
        }
      >
        <NumberField
          label={`New limit of ${label.toLowerCase()}`}
          required
          min={0}
          max={1_000_000}
          placeholder={limit === null ? "none" : String(limit)}
          value={typed}
          onValue={setTyped}
        />
      </Form>
    </li>
  );
}
