import type { Process } from "./process.ts";
import { chapter, show, tell } from "./report.ts";
import { handled, type Stage, type Written } from "./stage.ts";

/**
 * Kill -9 at the three worst moments at once: one message is acknowledged and not yet handled, one is
 * being answered, and one was answered, but the bot does not know it yet.
 */
export async function killed(stage: Stage, bot: Process, webhook: string): Promise<Process> {
  chapter("The bot is killed at the worst moments");
  await stage.control.setFaults({ api: { mode: "lose-answer", match: "write", times: 1 } });
  const said = await stage.write("dora", "was this said?");
  await stage.answered(said);
  tell("an answer was posted, and the connection broke before the bot learned of it");

  await stage.control.setFaults({ api: { mode: "hold", match: "write" } });
  const underWay = await stage.write("emil", "is this being said?");
  await stage.happens(
    "an answer that is held",
    (entry) => entry.kind === "fault" && entry.change === "held",
  );
  tell("an answer is on its way, and the platform does not take it yet");
  const waiting = await stage.write("emil", "will this be said?");
  const status = await acknowledged(stage, waiting);
  show(`a message is acknowledged and not handled yet: [${status}]`, status === 200, status);

  const { signal } = await bot.end("SIGKILL");
  show("kill -9", signal === "SIGKILL", signal);
  await stage.control.setFaults({ api: { mode: "none" } });

  const { bot: restarted } = await stage.startBot(new URL(webhook).port);
  tell("the bot is started again");
  for (const { eventId } of [said, underWay, waiting]) {
    await restarted.line(`${eventId} handled`, handled(eventId));
  }
  const toDora = await stage.answers(said.conversationId);
  show(`what was said is not said again: "${toDora[0]}"`, toDora.length === 1, toDora);
  const toEmil = await stage.answers(waiting.conversationId);
  show(`what was on its way is said, once: "${toEmil[0]}"`, toEmil.length === 2, toEmil);
  show(`what was acknowledged is not lost: "${toEmil[1]}"`, toEmil.length === 2, toEmil);
  return restarted;
}

async function acknowledged(stage: Stage, { eventId }: Written): Promise<number | null> {
  const entry = await stage.happens(
    "its delivery",
    (candidate) => candidate.kind === "delivery" && candidate.eventIds.includes(eventId),
  );
  return entry.kind === "delivery" ? entry.status : null;
}
