import type { ComponentChildren } from "preact";
import { control } from "../api/control.ts";
import { clockOffset, machineOffset } from "../live/second.ts";
import { useShownApp } from "../live/shown-app.ts";
import { createLive } from "../live/use-live.ts";
import { duration } from "../parts/duration.ts";
import { Action } from "../parts/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { platformScenarios, type Situation } from "../views/faults/platform.tsx";
import { activeFault, describeHeld, targets } from "../views/faults/scenarios.ts";
import { isMachineTime } from "../views/settings/clock.ts";

/** Delay before a read, in ms. Each delivery and each request may use up a fault, and so cause a read. */
const SETTLE_MS = 300;

async function readTrouble() {
  const [faults, clock, storage] = await Promise.all([
    control.faults(),
    control.clock.view(),
    control.storage(),
  ]);
  clockOffset.value = Date.parse(clock.now) - Date.now();
  machineOffset.value = clockOffset.value - clock.offsetMs;
  return { faults, clock, hasStorage: storage.configured };
}

export const trouble = createLive(readTrouble, { settleMs: SETTLE_MS });

type Trouble = Awaited<ReturnType<typeof readTrouble>>;

interface Banner {
  readonly key: string;
  readonly tone: "bad" | "warn";
  readonly text: ComponentChildren;
  readonly action: string;
  readonly end: (() => Promise<unknown>) | undefined;
}

export function Banners() {
  const { app } = useShownApp();
  const now = trouble.value.data;
  const banners =
    now === undefined
      ? []
      : [...(app === undefined ? [] : ofPlatform({ ...now, app })), ...ofFaults(now)];
  return (
    <div role="status" aria-label="Active problems">
      {banners.map(({ key, tone, text, action, end }) => (
        <div key={key} class={`banner ${tone}`}>
          <Icon name="alert" />
          <span class="grow">{text}</span>
          {end !== undefined && (
            <Action small run={end}>
              {action}
            </Action>
          )}
        </div>
      ))}
    </div>
  );
}

function ofPlatform(now: Situation): readonly Banner[] {
  return platformScenarios
    .filter(({ isActive }) => isActive(now))
    .map(({ title, banner, action = "Turn on", stop }) => {
      const end = stop && (() => stop(now));
      return { key: title, tone: "bad", text: banner(now), action, end };
    });
}

function ofFaults({ faults, clock }: Trouble): readonly Banner[] {
  const found: Banner[] = [];
  for (const target of targets) {
    const fault = activeFault(target, faults) ?? describeHeld(target, faults);
    if (fault === undefined) continue;
    const end = () => control.setFaults({ [target]: { mode: "none" } });
    found.push({ key: target, tone: "warn", text: `Fault: ${fault}`, action: "Stop", end });
  }
  if (clock.frozen || !isMachineTime(clock.offsetMs)) {
    const side = clock.offsetMs < 0 ? "behind" : "ahead";
    const stopped = clock.frozen ? "is stopped, and " : "";
    const text = `The platform's clock ${stopped}is ${duration(clock.offsetMs)} ${side}.`;
    found.push({ key: "clock", tone: "warn", text, action: "Reset the clock", end: resetClock });
  }
  return found;
}

export async function resetClock(): Promise<void> {
  const { now, offsetMs } = await control.clock.view();
  const machineTime = new Date(Date.parse(now) - offsetMs).toISOString();
  await control.clock.set({ now: machineTime, frozen: false });
}
