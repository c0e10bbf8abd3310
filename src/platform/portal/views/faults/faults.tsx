import { control } from "../../api/control.ts";
import { useKeys } from "../../keys/keys.ts";
import { addressOf } from "../../live/route.ts";
import { useShownApp } from "../../live/shown-app.ts";
import { useLive } from "../../live/use-live.ts";
import { Badge } from "../../parts/bits.tsx";
import { ListCard } from "../../parts/card.tsx";
import { Action } from "../../parts/form.tsx";
import { attempt } from "../../parts/toast.tsx";
import { FaultForm } from "./fault-form.tsx";
import { noFaults, type Scenario, type Situation, scenarios } from "./scenarios.ts";

const stopAll = () => control.setFaults(noFaults);

async function readFaults() {
  const [faults, { configured }] = await Promise.all([control.faults(), control.storage()]);
  return { faults, hasStorage: configured };
}

/** A menu of scenarios. Each active fault is a banner on every view. */
export function Faults() {
  const { app } = useShownApp();
  const live = useLive(readFaults, {
    key: "faults",
    // Deliveries and requests use up what is left of a fault.
    concerns: ({ kind }) => kind !== "webhook" && kind !== "app",
  });
  const now = live.data && app && { ...live.data, app };
  useKeys([
    ...Object.values(scenarios)
      .flat()
      .flatMap(({ key, title, start }) => {
        if (key === undefined || key === "f" || now === undefined) return [];
        return [
          {
            key,
            label: title,
            group: "Faults",
            run: () => void attempt(() => start(control, now)),
          },
        ];
      }),
    { key: "o", label: "Stop all faults", group: "Faults", run: () => void attempt(stopAll) },
  ]);
  return (
    <>
      <div class="head">
        <h1>Faults</h1>
        <Action shortcut="o" run={stopAll} done="Stopped all faults.">
          Stop all
        </Action>
      </div>
      <div class="columns">
        {Object.entries(scenarios).map(([title, list]) => (
          <ListCard
            key={title}
            title={title}
            live={live}
            rows={now && activeFirst(list, now).map((scenario) => rowOf(scenario, now))}
          />
        ))}
      </div>
      <details class="card">
        <summary>Set a fault in detail</summary>
        <FaultForm />
      </details>
      <p>
        The clock and the limits are in <a href={addressOf("settings")}>Settings</a>.
      </p>
    </>
  );
}

function activeFirst(list: readonly Scenario[], now: Situation): readonly Scenario[] {
  return list.toSorted((a, b) => Number(b.isActive(now)) - Number(a.isActive(now)));
}

function rowOf({ title, bot, key, isActive, start, stop, confirm }: Scenario, now: Situation) {
  const active = isActive(now);
  const action = active && stop !== undefined ? "Stop" : "Start";
  return {
    key: title,
    text: (
      <>
        <strong>{title}</strong> {active && <Badge tone="warn">active</Badge>}
        <p class="hint">{bot}</p>
      </>
    ),
    actions: (
      <Action
        tone={active || confirm !== undefined ? "danger" : undefined}
        shortcut={key}
        disabled={active && stop === undefined}
        run={() => (active ? stop : start)?.(control, now)}
        confirm={confirm}
      >
        {action}
        <span class="visually-hidden"> {title}</span>
      </Action>
    ),
  };
}
