import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { AppView } from "../../types.ts";
import { control } from "../api/control.ts";
import { clockOffset } from "../live/second.ts";
import { useShownApp } from "../live/shown-app.ts";
import { createLive } from "../live/use-live.ts";
import { duration } from "../parts/duration.ts";
import { Action } from "../parts/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { activeFault, heldBack, targets } from "../views/faults/scenarios.ts";
import { isMachineTime } from "../views/settings/clock.ts";

/** In ms. Each delivery and each request uses up a part of a fault. */
const SETTLE_MS = 300;

type Unusual = Awaited<ReturnType<typeof readUnusual>>;

async function readUnusual() {
  const [faults, clock, storage] = await Promise.all([
    control.faults(),
    control.clock(),
    control.storage(),
  ]);
  return { faults, clock, storage, readAt: Date.now() };
}

const unusual = createLive(readUnusual, { settleMs: SETTLE_MS });

interface Banner {
  readonly key: string;
  readonly tone: "bad" | "warn";
  readonly text: ComponentChildren;
  /** The button that ends the trouble. */
  readonly action?: string;
  readonly end?: () => Promise<unknown>;
}

/** Unusual states of the platform and of the shown bot, on every view, each with a button that ends it. */
export function Banners() {
  const { app, reload: reloadApp } = useShownApp();
  const { data, reload } = unusual.value;
  useEffect(() => {
    if (data !== undefined) clockOffset.value = Date.parse(data.clock.now) - data.readAt;
  }, [data]);
  const banners = [
    ...(app === undefined ? [] : ofApp(app)),
    ...(data === undefined ? [] : ofPlatform(data)),
  ];
  return (
    <div role="status" aria-label="Not as usual">
      {banners.map(({ key, tone, text, action, end }) => (
        <div key={key} class={`banner ${tone}`}>
          <Icon name="alert" />
          <span class="grow">{text}</span>
          {end !== undefined && (
            <Action small run={() => end().then(() => Promise.all([reloadApp(), reload()]))}>
              {action}
            </Action>
          )}
        </div>
      ))}
    </div>
  );
}

function ofApp({ bot: { username }, webhook, disabled, tokens }: AppView): readonly Banner[] {
  const found: Banner[] = [];
  if (disabled) {
    const text = `The app of @${username} is disabled: each request gets 403.`;
    const end = () => control.setApp(username, { disabled: false });
    found.push({ key: "app", tone: "bad", text, action: "Enable", end });
  }
  if (tokens === 0) {
    const link = <a href="#/settings">Create a token</a>;
    const text = [`@${username} has no API token: each request gets 401. `, link];
    found.push({ key: "tokens", tone: "bad", text });
  }
  if (webhook.url !== null && !webhook.enabled) {
    const link = <a href="#/webhook">Webhook off</a>;
    const text = [link, ` (${webhook.disabledReason}): the bot finds new events when it polls.`];
    const end = () => control.saveWebhook({ enabled: true });
    found.push({ key: "webhook", tone: "bad", text, action: "Turn on", end });
  }
  return found;
}

function ofPlatform({ faults, clock, storage }: Unusual): readonly Banner[] {
  const found: Banner[] = [];
  for (const target of targets) {
    const fault = activeFault(target, faults) ?? heldBack(target, faults);
    if (fault === undefined) continue;
    const text = `Fault: ${fault}`;
    const end = () => control.setFaults({ [target]: { mode: "none" } });
    found.push({ key: target, tone: "warn", text, action: "Stop", end });
  }
  if (clock.frozen || !isMachineTime(clock.offsetMs)) {
    const side = clock.offsetMs < 0 ? "behind" : "ahead";
    const stopped = clock.frozen ? "is stopped, and " : "";
    const text = `The platform's clock ${stopped}is ${duration(clock.offsetMs)} ${side}.`;
    found.push({ key: "clock", tone: "warn", text, action: "Reset the clock", end: resetClock });
  }
  if (!storage.configured) {
    const text = "Image storage is off: uploads get 503.";
    const end = () => control.setStorage({ configured: true });
    found.push({ key: "storage", tone: "warn", text, action: "Turn on", end });
  }
  return found;
}

/** Sets the clock to the machine's time, also after it was stopped. */
export async function resetClock(): Promise<void> {
  const { now, offsetMs } = await control.clock();
  await control.setClock({
    now: new Date(Date.parse(now) - offsetMs).toISOString(),
    frozen: false,
  });
}
