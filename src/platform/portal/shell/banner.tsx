import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { control } from "../api/control.ts";
import { clockOffset } from "../live/second.ts";
import { useShownApp } from "../live/shown-app.ts";
import { useLive } from "../live/use-live.ts";
import { duration } from "../parts/duration.ts";
import { Action } from "../parts/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { activeFault, heldBack, targets } from "../views/faults/scenarios.ts";
import { isMachineTime } from "../views/settings/clock.ts";

/** In ms. Each delivery and each request uses up a part of a fault. */
const SETTLE_MS = 300;

/** Reads what is not as usual on the platform. */
async function readUnusual() {
  const [faults, clock, storage] = await Promise.all([
    control.faults(),
    control.clock(),
    control.storage(),
  ]);
  return { faults, clock, storage, readAt: Date.now() };
}

/** Says on every view what is not as usual, with a button that ends it. */
export function Banners() {
  const { data, reload } = useLive(readUnusual, { key: "unusual", settleMs: SETTLE_MS });
  useEffect(() => {
    if (data !== undefined) clockOffset.value = Date.parse(data.clock.now) - data.readAt;
  }, [data]);
  const end = (change: () => Promise<unknown>) => async () => {
    await change();
    await reload();
  };
  return (
    <div role="status" aria-label="Not as usual">
      <AppBanners />
      {data !== undefined &&
        targets.map((target) => {
          const what = activeFault(target, data.faults) ?? heldBack(target, data.faults);
          if (what === undefined) return null;
          const stop = () => control.setFaults({ [target]: { mode: "none" } });
          return (
            <Banner key={target} action="Stop" run={end(stop)}>
              Fault: {what}
            </Banner>
          );
        })}
      {data !== undefined && (data.clock.frozen || !isMachineTime(data.clock.offsetMs)) && (
        <Banner action="Reset the clock" run={end(resetClock)}>
          The platform's clock {data.clock.frozen && "is stopped, and "}is{" "}
          {duration(data.clock.offsetMs)} {data.clock.offsetMs < 0 ? "behind" : "ahead"}.
        </Banner>
      )}
      {data?.storage.configured === false && (
        <Banner action="Turn on" run={end(() => control.setStorage({ configured: true }))}>
          Image storage is off: uploads get 503.
        </Banner>
      )}
    </div>
  );
}

/** Sets the clock to the machine's time, also after it was stopped. */
export async function resetClock(): Promise<void> {
  const { now, offsetMs } = await control.clock();
  await control.setClock({
    now: new Date(Date.parse(now) - offsetMs).toISOString(),
    frozen: false,
  });
}

/** Trouble of the bot that is shown. */
function AppBanners() {
  const { app, reload } = useShownApp();
  if (app === undefined) return null;
  const { bot, webhook, disabled, tokens } = app;
  const end = (change: () => Promise<unknown>) => async () => {
    await change();
    await reload();
  };
  return (
    <>
      {disabled && (
        <Banner
          isBad
          action="Enable"
          run={end(() => control.setApp(bot.username, { disabled: false }))}
        >
          The app of @{bot.username} is disabled: each request gets 403.
        </Banner>
      )}
      {tokens === 0 && (
        <Banner isBad>
          @{bot.username} has no API token: each request gets 401.{" "}
          <a href="#/settings">Create a token</a>
        </Banner>
      )}
      {webhook.url !== null && !webhook.enabled && (
        <Banner isBad action="Turn on" run={end(() => control.saveWebhook({ enabled: true }))}>
          <a href="#/webhook">Webhook off</a> ({webhook.disabledReason}): the bot finds new events
          when it polls.
        </Banner>
      )}
    </>
  );
}

interface BannerProps {
  readonly isBad?: boolean;
  readonly action?: string;
  readonly run?: () => Promise<void>;
  readonly children: ComponentChildren;
}

function Banner({ isBad = false, action, run, children }: BannerProps) {
  return (
    <div class={`banner ${isBad ? "bad" : "warn"}`}>
      <Icon name="alert" />
      <span class="grow">{children}</span>
      {run !== undefined && (
        <Action small run={run}>
          {action}
        </Action>
      )}
    </div>
  );
}
