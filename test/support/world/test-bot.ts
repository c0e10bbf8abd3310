import { onTestFinished } from "vitest";
import { type TestBot, type TestOptions, testBot } from "../../../src/testing/index.ts";
import { Bot } from "../../faces/bot.ts";

type Options = NonNullable<ConstructorParameters<typeof Bot>[0]>;

/** Starts a bot with the public test kit, after `prepare` has set it up. The bot stops when the test ends. */
export async function startTestBot(
  prepare: (bot: Bot) => unknown = () => undefined,
  more: Options = {},
  test: TestOptions = {},
): Promise<TestBot<Bot>> {
  const under = await testBot((options) => {
    const bot = new Bot({ ...options, ...more });
    prepare(bot);
    return bot;
  }, test);
  onTestFinished(() => under.close());
  return under;
}
