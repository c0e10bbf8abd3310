import type { FaultsChange } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useKeys } from "../../keys/keys.ts";
import { useShownApp } from "../../live/shown-app.tsx";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { attempt } from "../../parts/toast.tsx";
import { KillSwitch } from "../webhook/kill-switch.tsx";
import { activeCount } from "./active.ts";
import { ClockCard } from "./clock-card.tsx";
import { FaultCard } from "./fault-card.tsx";
import { LimitsCard } from "./limits-card.tsx";
import { targets } from "./modes.ts";
import { nothingWrong, presets } from "./presets.ts";
import { StorageCard } from "./storage-card.tsx";

/** What goes wrong, how much is allowed, and what time it is. */
export function Faults() {
  const { data, error, reload } = useLive(control.faults, {
    key: "faults",
    // Deliveries and requests use up what is left of a fault.
    concerns: ({ kind }) => kind !== "webhook" && kind !== "app",
  });
  const set = async (change: FaultsChange) => {
    await control.setFaults(change);
    await reload();
  };
  const apps = useShownApp();
  const { app } = apps;
  const stop = { key: "o", label: "Stop all faults", said: "Nothing goes wrong any more." };
  const own = presets.filter(({ key }) => key !== "f");
  useKeys(
    [...own, { ...stop, change: nothingWrong }].map(({ key, label, said, change }) => {
      return { key, label, group: "Faults", run: () => void attempt(() => set(change), said) };
    }),
  );
  const active = data === undefined ? 0 : activeCount(data);
  return (
    <>
      <h1>Faults</h1>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <section class="card" aria-labelledby="fault-presets">
        <h2 id="fault-presets">At once</h2>
        <div class="row">
          {presets.map(({ key, label, said, change }) => (
            <Action key={key} shortcut={key} run={() => set(change)} done={said}>
              {label}
            </Action>
          ))}
          <Action
            tone={active > 0 ? "danger" : "quiet"}
            shortcut={stop.key}
            run={() => set(nothingWrong)}
            done={stop.said}
          >
            Stop all
          </Action>
        </div>
        <p class="hint fault-sum" role="status">
          {active === 0 ? "Nothing goes wrong now." : `${active} of 3 kinds go wrong now.`}
        </p>
      </section>
      <div class="columns">
        {data !== undefined &&
          targets.map((target) => (
            <FaultCard key={target} target={target} faults={data} set={set} />
          ))}
        <ClockCard />
        <LimitsCard />
        <StorageCard />
        {app !== undefined && <KillSwitch app={app} reload={apps.reload} />}
      </div>
    </>
  );
}
