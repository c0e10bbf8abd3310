import { useState } from "preact/hooks";
import type { AppView, EventType, WebhookChange } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useShownApp } from "../../live/shown-app.tsx";
import { useLive } from "../../live/use-live.ts";
import { Badge, Failure, Time } from "../../parts/bits.tsx";
import { SelectField } from "../../parts/fields.tsx";
import { Action } from "../../parts/form.tsx";
import { actAsPerson } from "../../shell/act-keys.ts";
import { BotCard } from "./bot-card.tsx";
import { eventTypes } from "./event-types.ts";
import { failures } from "./health.ts";
import { Secret } from "./secret.tsx";
import { WebhookForm } from "./webhook-form.tsx";

/** The developer portal of section 3, with the status that the bot reports. */
export function Webhook() {
  const { app, error, reload } = useShownApp();
  if (app === undefined) {
    return (
      <>
        <h1>Webhook</h1>
        {error !== undefined && <Failure error={error} retry={reload} />}
      </>
    );
  }
  const { username } = app.bot;
  const save = async (change: WebhookChange) => {
    await control.saveWebhook(change);
    await reload();
  };
  return (
    <>
      <h1>Webhook of @{username}</h1>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <div class="columns">
        <Health key={username} app={app} />
        <WebhookForm key={`form ${username}`} webhook={app.webhook} save={save} />
        <Secret username={username} />
        <BotCard username={username} />
      </div>
    </>
  );
}

const types = Object.keys(eventTypes).map((value) => ({ value: value as EventType, label: value }));

/** Whether the webhook is on, its failures, and a test event. */
function Health({ app: { webhook, bot } }: { readonly app: AppView }) {
  const { data } = useLive(control.notifications, {
    key: bot.username,
    concerns: ({ kind }) => kind === "webhook" || kind === "state",
  });
  const [type, setType] = useState<EventType>("dm.message");
  const told = data?.items.toReversed() ?? [];
  return (
    <section class="card" aria-labelledby="webhook-health">
      <h2 id="webhook-health">
        Deliveries{" "}
        <Badge tone={webhook.enabled ? "plain" : "bad"}>{webhook.enabled ? "on" : "off"}</Badge>
      </h2>
      <p>{failures(webhook)}</p>
      <div class="row">
        <SelectField
          label="Test event"
          hint={eventTypes[type]}
          value={type}
          options={types}
          onValue={setType}
        />
        <Action
          run={() => actAsPerson(type)}
          done={`Sent a ${type} event. See Events for what became of it.`}
        >
          Send test event
        </Action>
      </div>
      {told.length > 0 && (
        <details>
          <summary>Notifications to the owner ({told.length})</summary>
          <ul class="list">
            {told.map(({ id, at, message }) => (
              <li key={id}>
                <span class="grow">{message}</span> <Time at={at} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
