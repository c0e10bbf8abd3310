import { useState } from "preact/hooks";
import type { AppView, NewApp } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { lookAt } from "../../live/shown-app.tsx";
import { Avatar, Badge } from "../../parts/bits.tsx";
import { envLines } from "../../parts/env-lines.ts";
import { Action } from "../../parts/form.tsx";
import { SecretDialog } from "../../parts/secrets.tsx";
import { KillSwitchButton } from "../webhook/kill-switch.tsx";
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
    <section class="card" aria-labelledby="state-bots">
      <h2 id="state-bots">Bots ({apps.length})</h2>
      <ul class="list">
        {apps.map((app) => (
          <Line
            key={app.bot.username}
            {...{ app, apps, reload }}
            isShown={app.bot.username === shown?.bot.username}
          />
        ))}
      </ul>
      <h3>New bot</h3>
      <AccountForm
        what="bot"
        create={async (account) => {
          setMade(await control.createApp(account));
          await reload();
        }}
      />
      {made !== undefined && (
        <SecretDialog
          title={`@${made.bot.username} is there`}
          lines={envLines({ baseUrl: location.origin, ...made })}
          onClose={() => setMade(undefined)}
        >
          <p>
            Its token has every scope. Give its webhook an address in the view Webhook, or let it
            poll with <code>DELIVERY=polling</code>.
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
  return (
    <li>
      <Avatar username={username} isBot />
      <span class="grow">
        <strong>{name}</strong> @{username}
        <span class="row state-badges">
          {isShown && <Badge tone="good">looked at</Badge>}
          <Badge tone={app.webhook.enabled ? "good" : "plain"}>
            webhook {app.webhook.enabled ? "on" : "off"}
          </Badge>
          <Badge>{app.tokens === 1 ? "1 token" : `${app.tokens} tokens`}</Badge>
          {app.disabled && <Badge tone="bad">disabled</Badge>}
        </span>
      </span>
      <Action
        small
        label={`Look at @${username}`}
        run={() => lookAt(username, apps)}
        done={`The page looks at @${username} now.`}
      >
        Look at
      </Action>
      <KillSwitchButton app={app} reload={reload} small />
    </li>
  );
}
