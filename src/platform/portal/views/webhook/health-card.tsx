import type { AppView, NotificationView, WebhookChange } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { entries } from "../../live/stream.ts";
import { useLive } from "../../live/use-live.ts";
import { Badge, Time } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { useListFocus } from "../../parts/list-focus.ts";
import { failures, whyOff } from "./health.ts";

interface HealthProps {
  readonly app: AppView;
  readonly save: (change: WebhookChange) => Promise<void>;
}

/** Whether the webhook is on, how near it is to being switched off, and what has switched it off. */
export function Health({ app, save }: HealthProps) {
  const { webhook, bot, disabled } = app;
  const { data } = useLive(control.notifications, {
    key: bot.username,
    concerns: ({ kind }) => kind === "webhook" || kind === "state",
  });
  const told = data?.items ?? [];
  // The button that switches on is gone when it has.
  const heading = useListFocus<HTMLHeadingElement>(webhook.enabled ? 0 : 1);
  const off = whyOff({ view: webhook, told, entries: entries.value, bot: bot.username });
  return (
    <section class="card" aria-labelledby="webhook-health">
      <h2 id="webhook-health" ref={heading} tabIndex={-1}>
        Deliveries{" "}
        <Badge tone={webhook.enabled ? "good" : "warn"}>{webhook.enabled ? "on" : "off"}</Badge>
      </h2>
      {disabled && (
        <p class="note bad">The app is disabled: nothing is delivered, whatever is set here.</p>
      )}
      {off !== undefined && (
        <div class="note warn">
          <p>
            {off.at !== undefined && <Time at={off.at} />} {off.reason}
          </p>
          <p>Meanwhile events are in the log alone, where a bot that polls finds them.</p>
        </div>
      )}
      <p>{failures(webhook)}</p>
      {webhook.enabled && webhook.consecutiveFailures > 0 && (
        <meter
          min={0}
          max={webhook.disableAfter}
          value={webhook.consecutiveFailures}
          aria-label="Failures in a row"
        />
      )}
      {!webhook.enabled && webhook.url !== null && (
        <Action
          tone="primary"
          shortcut="w"
          run={() => save({ enabled: true })}
          done="The webhook is on again; the failure count is 0."
        >
          Switch on again
        </Action>
      )}
      <Told items={told} />
    </section>
  );
}

function Told({ items }: { readonly items: readonly NotificationView[] }) {
  if (items.length === 0) return null;
  return (
    <details>
      <summary>What the owner was told ({items.length})</summary>
      <ul class="list">
        {[...items].reverse().map(({ id, at, message }) => (
          <li key={id}>
            <Time at={at} />
            <span class="grow">{message}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
