import { useState } from "preact/hooks";
import type { AppView, NewApp } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { lookAt } from "../../live/shown-app.tsx";
import { Avatar, Badge } from "../../parts/bits.tsx";
import { Confirmed } from "../../parts/confirm.tsx";
import { envLines } from "../../parts/env-lines.ts";
import { Action } from "../../parts/form.tsx";
import { SecretDialog } from "../../parts/secrets.tsx";
import { AccountForm } from "./account-form.tsx";

interface BotsProps {
  readonly apps: readonly AppView[];
  readonly shown: AppView | undefined;
  readonly reload: () => Promise<void>;
}

/** The apps: each is a bot with its tokens, its webhook and its kill switch. */
export function Bots({ apps, shown, reload }: BotsProps) {
  const [made, setMade] = useState<NewApp>();
  return (
    <section class="card" aria-labelledby="settings-bots">
      <h2 id="settings-bots">Bots</h2>
      <ul class="list">
        {apps.map((app) => (
          <Line
            key={app.bot.username}
            {...{ app, apps, reload }}
            isShown={app.bot.username === shown?.bot.username}
          />
        ))}
      </ul>
      <AccountForm
        what="bot"
        create={async (account) => {
          setMade(await control.createApp(account));
          await reload();
        }}
      />
      {made !== undefined && (
        <SecretDialog
          title={`Created @${made.bot.username}`}
          lines={envLines({ baseUrl: location.origin, ...made })}
          onClose={() => setMade(undefined)}
        >
          <p>
            The token has every scope. Set the address of the webhook in the Webhook view, or let
            the bot poll with <code>DELIVERY=polling</code>.
          </p>
        </SecretDialog>
      )}
    </section>
  );
}

interface LineProps {
  readonly app: AppView;
  readonly apps: readonly AppView[];
  readonly isShown: boolean;
  readonly reload: () => Promise<void>;
}

function Line({ app, apps, isShown, reload }: LineProps) {
  const { username, name } = app.bot;
  const set = (disabled: boolean) => async () => {
    await control.setApp(username, { disabled });
    await reload();
  };
  return (
    <li>
      <Avatar username={username} isBot />
      <span class="grow">
        <strong>{name}</strong> @{username} {isShown && <Badge>shown</Badge>}{" "}
        {app.disabled && <Badge tone="bad">disabled</Badge>}
      </span>
      {!isShown && (
        <Action small label={`Show @${username}`} run={() => lookAt(username, apps)}>
          Show
        </Action>
      )}
      {app.disabled ? (
        <Action small label={`Enable the app of @${username}`} run={set(false)}>
          Enable
        </Action>
      ) : (
        <Confirmed
          ask="Disable…"
          label={`Disable the app of @${username}`}
          title={`Disable the app of @${username}?`}
          confirm="Disable"
          small
          run={set(true)}
        >
          <p>
            Each request of the bot gets 403 until the app is enabled again. Pending deliveries are
            dropped: their events are in the log alone.
          </p>
        </Confirmed>
      )}
    </li>
  );
}
