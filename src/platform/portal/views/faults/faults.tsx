import type { ComponentChildren } from "preact";
import type { FaultsChange } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useKeys } from "../../keys/keys.ts";
import { addressOf } from "../../live/route.ts";
import { useShownApp } from "../../live/shown-app.tsx";
import { useLive } from "../../live/use-live.ts";
import { Confirmed } from "../../parts/confirm.tsx";
import { Action } from "../../parts/form.tsx";
import { attempt } from "../../parts/toast.tsx";
import { FaultForm } from "./fault-form.tsx";
import { endOf, isActive, nothingWrong, scenarios } from "./scenarios.ts";

/** A menu of things that go wrong. Those that are active are banners on every view. */
export function Faults() {
  const { data, reload } = useLive(control.faults, {
    key: "faults",
    // Deliveries and requests use up what is left of a fault.
    concerns: ({ kind }) => kind !== "webhook" && kind !== "app",
  });
  const set = async (change: FaultsChange) => {
    await control.setFaults(change);
    await reload();
  };
  useKeys(
    [...scenarios, { key: "o", title: "Stop all faults", change: nothingWrong }].flatMap(
      ({ key, title, change }) => {
        if (key === undefined || key === "f") return [];
        const run = () => void attempt(() => set(change));
        return [{ key, label: title, group: "Faults", run }];
      },
    ),
  );
  return (
    <>
      <div class="head">
        <h1>Faults</h1>
        <Action shortcut="o" run={() => set(nothingWrong)} done="No fault is set.">
          Stop all
        </Action>
      </div>
      <ul class="card scenarios">
        {scenarios.map((scenario) => {
          const { title, bot, key, change } = scenario;
          const active = data !== undefined && isActive(scenario, data);
          return (
            <Line key={title} title={title} bot={bot} isActive={active}>
              <Action
                tone={active ? "danger" : undefined}
                shortcut={key}
                run={() => set(active ? endOf(scenario) : change)}
              >
                {active ? "Stop" : "Start"}
                <span class="visually-hidden"> {title}</span>
              </Action>
            </Line>
          );
        })}
        <OwnerLines />
      </ul>
      <details class="card">
        <summary>Set a fault in detail</summary>
        <FaultForm set={set} />
      </details>
      <p>
        The clock and the limits are in <a href={addressOf("settings")}>Settings</a>.
      </p>
    </>
  );
}

interface LineProps {
  readonly title: string;
  readonly bot: string;
  readonly isActive: boolean;
  /** The button. */
  readonly children: ComponentChildren;
}

function Line({ title, bot, isActive: active, children }: LineProps) {
  return (
    <li>
      <div class="grow">
        <strong>{title}</strong> {active && <span class="badge warn">active</span>}
        <p class="hint">{bot}</p>
      </div>
      {children}
    </li>
  );
}

/** Bad luck that the owner of the app brings about. */
function OwnerLines() {
  const { app, reload } = useShownApp();
  if (app === undefined) return null;
  const { username } = app.bot;
  const disable = async () => {
    await control.setApp(username, { disabled: true });
    await reload();
  };
  const unhook = async () => {
    await control.saveWebhook({ enabled: false });
    await reload();
  };
  const revoke = async () => {
    const { items } = await control.tokens();
    for (const { id } of items) await control.revokeToken(id);
    await reload();
  };
  const off = !app.webhook.enabled;
  return (
    <>
      <Line
        title="The webhook is disabled"
        bot="As after too many failures. The bot polls, and misses nothing."
        isActive={off}
      >
        <Action label="Start The webhook is disabled" disabled={off} run={unhook}>
          Start
        </Action>
      </Line>
      <Line
        title="The app is disabled"
        bot="Each request gets 403, and nothing is delivered. The bot waits until it is enabled."
        isActive={app.disabled}
      >
        <Action label="Start The app is disabled" disabled={app.disabled} run={disable}>
          Start
        </Action>
      </Line>
      <Line
        title="Image storage is off"
        bot="Uploads get 503 NOT_CONFIGURED. A bot should say it in words."
        isActive={false}
      >
        <Action
          label="Start Image storage is off"
          run={() => control.setStorage({ configured: false })}
        >
          Start
        </Action>
      </Line>
      <Line
        title="The token is revoked"
        bot="Each request gets 401, and the bot says so in its log. It needs a new token."
        isActive={app.tokens === 0}
      >
        <Confirmed
          ask="Start…"
          label="Start The token is revoked"
          title={`Revoke every token of @${username}?`}
          confirm="Revoke"
          run={revoke}
        >
          <p>
            The bot can do nothing until it has another one: create it in Settings, and put it into
            the bot's <code>.env</code>. This cannot be undone.
          </p>
        </Confirmed>
      </Line>
    </>
  );
}
