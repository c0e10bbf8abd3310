import type { AppView, Scope, TokenView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { lookAt, useShownApp } from "../../live/shown-app.ts";
import { useLive } from "../../live/use-live.ts";
import { Avatar, Badge } from "../../parts/bits.tsx";
import { ListCard } from "../../parts/card.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { Item } from "../../parts/list.tsx";
import { showSecret } from "../../parts/secrets.tsx";
import { AccountForm } from "./account-form.tsx";
import { createToken } from "./create-token.tsx";
import { revokeWarning, scopes } from "./names.ts";

export function Bots() {
  const { apps = [], app: shown } = useShownApp();
  const items = apps.map((app) => {
    const { username, name } = app.bot;
    const isShown = app === shown;
    const actions = (
      <>
        {!isShown && (
          <Action small label={`Show @${username}`} run={() => lookAt(username, apps)}>
            Show
          </Action>
        )}
        <Switch app={app} />
      </>
    );
    return (
      <Item key={username} actions={actions}>
        <Avatar username={username} isBot /> <strong>{name}</strong> @{username}{" "}
        {isShown && <Badge>shown</Badge>} {app.disabled && <Badge tone="bad">disabled</Badge>}
      </Item>
    );
  });
  const create = async (account: { username: string; name?: string }) => {
    const { bot, apiKey, webhookSecret } = await control.apps.create(account);
    showSecret({
      title: `Created @${bot.username}`,
      env: {
        SERVICE_BASE_URL: location.origin,
        SERVICE_API_KEY: apiKey,
        SERVICE_WEBHOOK_SECRET: webhookSecret,
      },
      note: (
        <p>
          The token has every scope. Set the webhook's URL in the Webhook view, or make the bot poll
          with <code>DELIVERY=polling</code>.
        </p>
      ),
    });
  };
  return (
    <ListCard title="Bots" items={items}>
      <AccountForm kind="bot" create={create} />
    </ListCard>
  );
}

function Switch({ app: { bot, disabled } }: { readonly app: AppView }) {
  const verb = disabled ? "Enable" : "Disable";
  return (
    <Action
      small
      tone={disabled ? undefined : "danger"}
      label={`${verb} @${bot.username}'s app`}
      title={disabled ? undefined : "Each request gets 403, and pending deliveries are dropped"}
      run={() => control.apps.set(bot.username, { disabled: !disabled })}
    >
      {verb}
    </Action>
  );
}

const scopeOptions = scopes.map(([value, hint]) => ({ value, hint, checked: true }));

export function Tokens({ app }: { readonly app: AppView }) {
  const { username } = app.bot;
  const live = useLive(control.apps.tokens, {
    key: username,
    concerns: ({ kind }) => kind === "app" || kind === "state",
  });
  return (
    <ListCard
      title={`@${username}'s tokens`}
      live={live}
      items={live.data?.map((token) => tokenItem(token, app))}
    >
      <Form
        label="New token"
        submit="Create token"
        fields={[{ name: "scopes", label: "Scopes", kind: "checks", options: scopeOptions }]}
        run={async (values) => {
          await createToken({ scopes: values.checked<Scope>("scopes"), bot: username });
        }}
      />
    </ListCard>
  );
}

function tokenItem({ id, lastFour, scopes: own, standard }: TokenView, app: AppView) {
  const revoke = (
    <Action
      small
      tone="danger"
      label={`Revoke the token that ends in ${lastFour}`}
      run={() => control.apps.revokeToken(id)}
      done={`Revoked the token …${lastFour}.`}
      confirm={{
        title: `Revoke the token …${lastFour}?`,
        text: `${revokeWarning(standard, app)} This cannot be undone.`,
        submit: "Revoke",
      }}
    >
      Revoke…
    </Action>
  );
  return (
    <Item key={id} actions={revoke}>
      <code>…{lastFour}</code> {standard && <Badge>standard</Badge>}{" "}
      <span class="hint">{own.join(", ") || "no scope"}</span>
    </Item>
  );
}
