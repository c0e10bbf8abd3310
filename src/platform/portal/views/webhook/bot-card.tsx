import { control } from "../../api/control.ts";
import { useLive } from "../../live/use-live.ts";
import { Loaded } from "../../parts/bits.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Action } from "../../parts/form.tsx";
import { Kept } from "../chat/kept.tsx";
import { readBotStatus } from "./bot-status.ts";

/** In ms. The bot keeps each report for a second, so a sooner reading would be the one before the change. */
const SETTLE_MS = 1_100;

/** The status of the bot, as `GET /readyz?verbose` of it reports. */
export function BotCard({ username }: { readonly username: string }) {
  const live = useLive(control.botView, {
    key: username,
    // What the bot makes of an event comes after it.
    concerns: ({ kind }) => kind !== "event",
    settleMs: SETTLE_MS,
  });
  return (
    <section class="card" aria-labelledby="bot-view">
      <div class="head">
        <h2 id="bot-view">Status of the bot</h2>
        <Action small run={live.reload}>
          Refresh
        </Action>
      </div>
      <Loaded live={live}>
        {({ url, status, error }) => {
          const rows = readBotStatus(status);
          return rows === undefined ? (
            <p class="note">
              {error ?? "This is not the status of a service-bot."} The webhook works all the same.
            </p>
          ) : (
            <Facts
              of={[
                ["Address", <code>{url}</code>],
                ...rows.map(({ name, value, isBad }) => {
                  return [name, <span class={isBad ? "bad" : ""}>{value}</span>] as const;
                }),
              ]}
            />
          );
        }}
      </Loaded>
      <Kept />
    </section>
  );
}
