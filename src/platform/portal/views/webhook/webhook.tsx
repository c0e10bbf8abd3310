import { useState } from "preact/hooks";
import type { AppView, EventType } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useShownApp } from "../../live/shown-app.ts";
import { useLive } from "../../live/use-live.ts";
import { Badge, Failure, Time } from "../../parts/bits.tsx";
import { Card } from "../../parts/card.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { Item, List } from "../../parts/list.tsx";
import { showSecret } from "../../parts/secrets.tsx";
import { say } from "../../parts/toast.tsx";
import { actAsPerson } from "../../shell/act-keys.ts";
import { eventTypes } from "../events/event-types.ts";
import { BotCard } from "./bot-card.tsx";

export function Webhook() {
  const { app, error, reload } = useShownApp();
  return (
    <>
      <h1>Webhook{app !== undefined && ` of @${app.bot.username}`}</h1>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {app !== undefined && (
        <div class="columns" key={app.bot.username}>
          <Deliveries app={app} />
          <Endpoint app={app} />
          <Secret app={app} />
          <BotCard username={app.bot.username} />
        </div>
      )}
    </>
  );
}

interface AppProps {
  readonly app: AppView;
}

const types = Object.entries(eventTypes).map(([value, { cause }]) => ({ value, hint: cause }));
const testTypes = types.map(({ value, hint }) => ({ value, label: `${value}: ${hint}` }));

function Deliveries({ app: { webhook, bot } }: AppProps) {
  const live = useLive(control.notifications, {
    key: bot.username,
    concerns: ({ kind }) => kind === "webhook" || kind === "state",
  });
  const notifications = live.data?.toReversed() ?? [];
  const { enabled, consecutiveFailures, disableAfter } = webhook;
  return (
    <Card
      title={
        <>
          Deliveries <Badge tone={enabled ? "plain" : "bad"}>{enabled ? "on" : "off"}</Badge>
        </>
      }
      live={live}
    >
      <p>
        {consecutiveFailures} of {disableAfter} failures in a row. After {disableAfter} failures,
        the platform disables the webhook.
      </p>
      <Form
        keeps
        label="Test event"
        submit="Send test event"
        fields={[{ name: "type", label: "Type", kind: "select", options: testTypes }]}
        run={async (values) => {
          const type = values.text("type") as EventType;
          await actAsPerson(type);
          say(`Sent a ${type} event. See Events for its outcome.`);
        }}
      />
      {notifications.length > 0 && (
        <details>
          <summary>Notifications to the owner ({notifications.length})</summary>
          <List
            items={notifications.map(({ id, at, message }) => (
              <Item key={id} actions={<Time at={at} />}>
                {message}
              </Item>
            ))}
          />
        </details>
      )}
    </Card>
  );
}

function Endpoint({ app: { webhook } }: AppProps) {
  const [isEdited, setEdited] = useState(false);
  const { reload } = useShownApp();
  const newer = webhook.types.filter((type) => !(type in eventTypes));
  const options = [
    ...types,
    ...newer.map((value) => ({ value, hint: "added after this page was built" })),
  ];
  return (
    <Card title="Endpoint">
      <Form
        keeps
        tone="primary"
        label="Webhook endpoint"
        submit="Save"
        fields={[
          {
            name: "url",
            label: "URL",
            required: true,
            value: webhook.url ?? "",
            placeholder: "http://127.0.0.1:3000/webhook",
            hint: "https, or http on this machine.",
          },
          {
            name: "types",
            label: "Event types",
            kind: "checks",
            hint: "Select none to receive every type, including new ones.",
            options: options.map((option) => {
              return { ...option, checked: webhook.types.includes(option.value) };
            }),
          },
          {
            name: "enabled",
            label: "State",
            kind: "checks",
            // The first URL that the user saves enables the webhook.
            options: [
              { value: "on", label: "Enabled", checked: webhook.enabled || webhook.url === null },
            ],
          },
        ]}
        onInput={() => setEdited(true)}
        onReset={() => setEdited(false)}
        run={async (values) => {
          await control.saveWebhook({
            url: values.text("url"),
            types: values.checked("types"),
            enabled: values.text("enabled") === "on",
          });
          // Wait for the saved values to render, because the form compares the next edit with the rendered values.
          await reload();
        }}
        done="Saved. The failure count is 0."
        more={
          isEdited && (
            <button type="reset" class="quiet">
              Discard changes
            </button>
          )
        }
      />
    </Card>
  );
}

function Secret({ app }: AppProps) {
  const { username } = app.bot;
  const regenerate = async () => {
    const secret = await control.regenerateWebhookSecret();
    showSecret({
      title: `New signing secret for @${username}`,
      env: { SERVICE_WEBHOOK_SECRET: secret },
      note: (
        <p>
          To rotate without downtime, set both secrets, newest first:{" "}
          <code>SERVICE_WEBHOOK_SECRET=whsec_new,whsec_old</code>. Restart the bot. Remove the old
          secret once the bot no longer logs “delivery signed with an old secret”.
        </p>
      ),
    });
  };
  return (
    <Card
      title="Signing secret"
      head={
        <Action
          small
          tone="danger"
          label="Regenerate the signing secret"
          run={regenerate}
          confirm={{
            title: "Regenerate the signing secret?",
            text: (
              <>
                Deliveries to @{username} are signed with the new secret immediately. Until you set
                it in <code>SERVICE_WEBHOOK_SECRET</code>, the bot rejects them with 401, and each
                rejection counts as a failure. This cannot be undone.
              </>
            ),
            submit: "Regenerate",
          }}
        >
          Regenerate…
        </Action>
      }
    >
      <p>
        <code>whsec_••••••••</code> signs each delivery.
      </p>
    </Card>
  );
}
