import { control } from "../../api/control.ts";
import { useLive } from "../../live/use-live.ts";
import { Card } from "../../parts/card.tsx";
import { Action } from "../../parts/form.tsx";
import { readBotStatus } from "./bot-status.ts";

/**
 * Delay before a read, in ms. The bot caches its report for a second, so an earlier read would return the old report.
 */
const SETTLE_MS = 1_100;

export function BotCard({ username }: { readonly username: string }) {
  const live = useLive(control.botView, {
    key: username,
    // Ignore new events, because the bot handles an event only after it appears in the timeline.
    concerns: ({ kind }) => kind !== "event",
    settleMs: SETTLE_MS,
  });
  const { url, status, error } = live.data ?? {};
  const rows = readBotStatus(status);
  return (
    <Card
      title="Bot status"
      live={live}
      head={
        <Action small run={live.reload}>
          Refresh
        </Action>
      }
    >
      {live.data !== undefined && rows === undefined && (
        <p class="note">
          {error ?? "The response is not a service-bot status. The webhook still works."}
        </p>
      )}
      {rows !== undefined && (
        <table>
          {[{ name: "URL", value: <code>{url}</code>, isBad: false }, ...rows].map(
            ({ name, value, isBad }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class={isBad ? "bad" : ""}>{value}</td>
              </tr>
            ),
          )}
        </table>
      )}
    </Card>
  );
}
