/**
 * Runs `npm run demo`: scaffolds a bot, connects it to a platform, and checks its promises. Each line with a check mark
 * is an assertion. The first broken promise ends the demo with exit code 1.
 */
import { messageOf } from "../../src/errors.ts";
import { answering, forgery, repeats } from "./answering.ts";
import { finished, killed } from "./killed.ts";
import { BrokenPromise, chapter, elapsed, explain, promisesKept, show } from "./report.ts";
import { Stage } from "./stage.ts";
import { webhookOff, webhookOn } from "./webhook.ts";

const stage = await Stage.build();
let ended = false;
try {
  await play(stage);
  ended = true;
} catch (error) {
  const what =
    error instanceof BrokenPromise
      ? error.message
      : String((error as Error).stack ?? messageOf(error));
  process.stdout.write(`\n${elapsed().padStart(6)} s  ✘ ${what}\n`);
  process.stdout.write(`${stage.tails()}\n`);
  process.stdout.write(`\nA promise is broken. The bot is still in ${stage.botFolder}\n`);
  process.exitCode = 1;
} finally {
  await stage.clear(!ended);
}

async function play(on: Stage): Promise<void> {
  chapter("A bot is scaffolded");
  await on.scaffold(explain);
  chapter("The platform and the bot start as two processes");
  explain(`platform ${await on.startPlatform()}`);
  const { bot, webhook } = await on.startBot();
  await on.platform.control.saveWebhook({ url: webhook, enabled: true });
  explain(`bot ${webhook}`);

  await answering(on);
  // Requests from the killed process can last up to 10 s. Show other chapters while the bot waits for them.
  const unfinished = await killed(on, bot, webhook);
  const { restarted } = unfinished;
  await forgery(on, webhook);
  await repeats(on);
  await webhookOff(on, restarted);
  await webhookOn(on, restarted);
  await finished(on, unfinished);
  await accounts(on);

  chapter("The bot stops");
  const { code, signal } = await restarted.end("SIGTERM");
  show("on SIGTERM, the bot finishes running work and exits with code 0", code === 0, {
    code,
    signal,
  });

  process.stdout.write(`\n${promisesKept()} promises checked in ${elapsed()} s.\n`);
}

async function accounts(on: Stage): Promise<void> {
  chapter("The bot answered every message once");
  let asked = 0;
  const { conversations, control } = on.platform;
  for (const id of conversations) {
    const messages = await control.messages(id);
    const fromPeople = messages.filter(({ fromBot }) => !fromBot).length;
    const fromBot = messages.length - fromPeople;
    asked += fromPeople;
    if (fromBot === fromPeople) continue;
    throw new BrokenPromise(`${id}: ${fromPeople} messages to the bot, ${fromBot} answers`);
  }
  const places = conversations.size;
  show(
    `${asked} messages in ${places} conversations: the bot answered each exactly once`,
    asked > 0,
    asked,
  );
}
