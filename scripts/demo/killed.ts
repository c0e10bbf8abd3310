import type { Written } from "../../test/support/world/remote-platform.ts";
import type { Process } from "./process.ts";
import { chapter, explain, show } from "./report.ts";
import { handled, type Stage } from "./stage.ts";

/** Three messages that a killed bot left unfinished, that bot, and the process that finishes them. */
export interface Unfinished {
  readonly killed: Process;
  readonly restarted: Process;
  /** The bot sent the reply, but was killed before it could record that. */
  readonly said: Written;
  /** The bot was killed while it was sending the reply. */
  readonly underWay: Written;
  readonly waiting: Written;
}

/** Kills the bot with SIGKILL while it has a message in each of the three states. */
export async function killed(stage: Stage, bot: Process, webhook: string): Promise<Unfinished> {
  chapter("The bot is killed at the worst times");
  const { platform } = stage;
  await platform.control.setFaults({ api: { mode: "lose-answer", match: "write", times: 1 } });
  const said = await platform.write("dora", "will you answer twice?");
  await stage.answered(said);
  explain("the bot posted a reply, but the connection broke before the response arrived");

  await platform.control.setFaults({ api: { mode: "hold", match: "write" } });
  const underWay = await platform.write("emil", "is this answered?");
  await stage.happens("a delayed reply", "fault", ({ change }) => change === "held");
  explain("the platform delays the request for the bot's next reply");
  const waiting = await platform.write("emil", "is this lost?");
  const status = await stage.delivered(waiting);
  show(
    `the bot has acknowledged a message, but not handled it yet: [${status}]`,
    status === 200,
    status,
  );

  const { signal } = await bot.end("SIGKILL");
  show("kill -9", signal === "SIGKILL", signal);
  await platform.control.setFaults({ api: { mode: "none" } });

  const { bot: restarted } = await stage.startBot(new URL(webhook).port);
  explain("the restarted bot looks for its replies on the platform at once;");
  explain(
    "it waits for a reply that it does not find, because the killed process's request may still be running;",
  );
  explain("meanwhile, it handles other conversations");
  return { killed: bot, restarted, said, underWay, waiting };
}

export async function finished(
  stage: Stage,
  { killed, restarted, said, underWay, waiting }: Unfinished,
): Promise<void> {
  chapter("The restarted bot finishes the killed bot's work");
  for (const { eventId } of [said, underWay, waiting]) {
    // The killed bot may have found its reply in the milliseconds before the kill.
    if (killed.logLines.some(handled(eventId))) continue;
    await restarted.logs(`${eventId} handled`, handled(eventId));
  }
  const toDora = await stage.platform.answers(said.conversationId);
  show(`the bot does not repeat the posted reply: "${toDora[0]}"`, toDora.length === 1, toDora);
  const toEmil = await stage.platform.answers(waiting.conversationId);
  show(`the bot sends the delayed reply once: "${toEmil[0]}"`, toEmil.length === 2, toEmil);
  show(
    `the bot does not lose the acknowledged message: "${toEmil[1]}"`,
    toEmil.length === 2,
    toEmil,
  );
}
