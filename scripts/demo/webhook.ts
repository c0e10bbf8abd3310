import { isSwitch, type LogRecord } from "../../test/support/log.ts";
import type { Written } from "../../test/support/world/remote-platform.ts";
import type { Process } from "./process.ts";
import { chapter, explain, show } from "./report.ts";
import { DISABLE_AFTER, handled, hurried, type Stage } from "./stage.ts";

/** Checks that the bot starts polling after the platform disables its failing webhook. */
export async function webhookOff(stage: Stage, bot: Process): Promise<void> {
  chapter("The webhook fails, and the platform disables it");
  const audit = seconds(hurried.AUDIT_INTERVAL_MS);
  const poll = seconds(hurried.POLL_INTERVAL_MS);
  explain("a proxy in front of the bot responds to every delivery with 502");
  const { platform } = stage;
  const fault = { mode: "status", status: 502, times: DISABLE_AFTER } as const;
  await platform.control.setFaults({ webhook: fault });
  const lost = await platform.write("ada", "does this arrive?");
  const failed = await failures(stage);
  const statuses = failed.map((status) => `[${status}]`).join(" ");
  show(
    `@ada writes, and ${failed.length} deliveries in a row fail: ${statuses}`,
    failed.length === DISABLE_AFTER,
    failed,
  );
  const disabled = await stage.happens("the disabled webhook", "webhook");
  show("the platform disables the webhook", disabled.change === "disabled", disabled);

  chapter("The bot reads the platform's event log");
  explain(`until now, an audit has looked for lost events every ${audit} s`);
  const found = await answer(stage, bot, lost);
  show(`thanks to an audit, the bot answers @ada: "${found}"`, found !== "", lost);
  const line = await bot.logs("the switch to polling", switchedTo("polling"));
  show(`the bot logs: "${line.msg}"`, line.level === "warn", line);
  explain(`because ${line.reason}`);
  explain(`from now on, the bot reads the log every ${poll} s (polling)`);
  for (const from of ["ben", "cleo"]) {
    const text = await answer(stage, bot, await platform.write(from, "and this?"));
    show(`the polling bot replies to @${from}: "${text}"`, text !== "", text);
  }
}

export async function webhookOn(stage: Stage, bot: Process): Promise<void> {
  chapter("The owner fixes and enables the webhook");
  const { platform } = stage;
  await platform.control.saveWebhook({ enabled: true });
  const written = await platform.write("ada", "and with the webhook?");
  const status = await stage.delivered(written);
  show(`the next message arrives by webhook again: [${status}]`, status === 200, status);
  const text = await answer(stage, bot, written);
  show(`the bot answers @ada: "${text}"`, text !== "", text);
  const back = await bot.logs("the switch back to the webhook", switchedTo("auditing"));
  show(`the bot logs: "${back.msg}"`, back.level === "info", back);
  explain(`because ${back.reason}`);
  const switches = bot.logLines.filter(isSwitch).map(({ mode }) => mode);
  const onceEach = switches.join() === "polling,auditing";
  show("the bot switched to polling once, and back once", onceEach, switches);
  const answers = await platform.answers(written.conversationId);
  show(
    "the webhook and the log overlapped, and the bot answered everything once",
    answers.length === 3,
    answers,
  );
}

async function failures(stage: Stage): Promise<readonly (number | null)[]> {
  const statuses: (number | null)[] = [];
  while (statuses.length < DISABLE_AFTER) {
    const what = "a delivery that fails";
    const { status } = await stage.happens(what, "delivery", (entry) => entry.status === 502);
    statuses.push(status);
  }
  return statuses;
}

async function answer(stage: Stage, bot: Process, written: Written): Promise<string> {
  await bot.logs(`${written.eventId} handled`, handled(written.eventId));
  return (await stage.platform.answers(written.conversationId)).at(-1) ?? "";
}

function switchedTo(mode: string): (line: LogRecord) => boolean {
  return (line) => isSwitch(line) && line.mode === mode;
}

function seconds(ms: string): number {
  return Number(ms) / 1000;
}
