import type { Process } from "./process.ts";
import { chapter, show } from "./report.ts";
import type { Stage } from "./stage.ts";

/** While the webhook is off the bot finds the events in the log, and takes to polling by itself. */
export async function webhookOff(stage: Stage, bot: Process): Promise<void> {
  chapter("The webhook goes off");
  await stage.control.saveWebhook({ enabled: false });
  for (const from of ["ada", "ben", "cleo"]) {
    const written = await stage.write(from, `can you hear me without the webhook? ${from}`);
    const answer = await stage.answered(written);
    const line = await bot.line("the event handled", ({ event }) => event === written.eventId);
    show(`@${from} is answered, by polling: "${answer}"`, line.msg === "handled", line);
  }
  const line = await bot.line("that polling takes over", ({ mode, reason }) => {
    return mode === "polling" && reason !== undefined;
  });
  show(`the bot says so: ${line.msg} (${line.reason})`, line.level === "warn", line);
}

/** Once it is on again it is used again. */
export async function webhookOn(stage: Stage, bot: Process): Promise<void> {
  chapter("The webhook comes back");
  await stage.control.saveWebhook({ enabled: true });
  const written = await stage.write("ada", "and with it?");
  const delivery = await stage.happens(
    "a delivery of the message",
    (entry) => entry.kind === "delivery" && entry.eventIds.includes(written.eventId),
  );
  const status = delivery.kind === "delivery" ? delivery.status : null;
  show(`the next message comes by webhook again: [${status}]`, status === 200, status);
  const back = await bot.line("that the webhook is used again", ({ mode, reason }) => {
    return mode === "auditing" && reason !== undefined;
  });
  show(`the bot says so: ${back.msg} (${back.reason})`, back.level === "info", back);
  const answers = (await stage.answers(written.conversationId)).length;
  show("webhook and polling overlapped, and everything was answered once", answers === 3, answers);
}
