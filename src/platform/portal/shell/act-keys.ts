import type { ActInput, ActResult } from "../../types.ts";
import { control } from "../api/control.ts";
import { sendAgain } from "../content/send-again.ts";
import type { Key } from "../keys/keys.ts";
import { bot, person } from "../live/settings.ts";
import { attempt, say } from "../parts/toast.tsx";

/** The same shortcuts and actions as in `service-bot dev`. */
export const actKeys: readonly Key[] = [
  { key: "d", label: "Direct message “hello”", run: () => act("dm.message", { text: "hello" }) },
  { key: "m", label: "Mention", run: () => act("mention") },
  { key: "l", label: "Like", run: () => act("like") },
  { key: "r", label: "Replay the newest event", run: () => void attempt(replay) },
  {
    key: "f",
    label: "The next delivery fails",
    run: () => void attempt(failNext, "The next delivery will fail."),
  },
  { key: "w", label: "Webhook on or off", run: () => void attempt(switchWebhook) },
].map((key) => ({ ...key, group: "Do" }));

function act(type: ActInput["type"], more: Partial<ActInput> = {}): void {
  void attempt(() => actAsPerson(type, more), `@${person.value}: ${type}`);
}

export function actAsPerson(
  type: ActInput["type"],
  more: Partial<ActInput> = {},
): Promise<ActResult> {
  const to = bot.value === "" ? {} : { to: bot.value };
  return control.act({ type, from: person.value, ...to, ...more });
}

async function replay(): Promise<void> {
  const { lastEventId } = await control.state();
  if (lastEventId === null)
    throw new Error("There is no event to replay. Press d to send a direct message.");
  await sendAgain({ eventIds: [lastEventId] });
}

function failNext(): Promise<unknown> {
  return control.setFaults({ webhook: { mode: "status", times: 1 } });
}

async function switchWebhook(): Promise<void> {
  const { enabled } = await control.webhookOf();
  await control.saveWebhook({ enabled: !enabled });
  say(`The webhook is ${enabled ? "off" : "on"}.`);
}
