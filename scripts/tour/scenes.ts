import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../demo/process.ts";
import type { Opened, Shell } from "./shell.ts";

/** A part of the page: words, and what was typed and shown, in this order. */
export interface Scene {
  readonly title: string;
  readonly words: string;
  /** What stands at the terminal. */
  play(shell: Shell): Promise<string>;
}

/** The ends of two lines, which come in any order. */
const DELIVERED = "attempt 1\n";
const said = (text: string) => `"${text}"\n`;

/** In ms: a key that comes sooner after another one counts as part of a word. */
const BETWEEN_KEYS_MS = 500;

async function press(dev: Opened, key: string): Promise<void> {
  await sleep(BETWEEN_KEYS_MS);
  dev.type(key);
}

/** Writes a direct message as Ada. */
async function writeHello(dev: Opened): Promise<void> {
  await press(dev, "d");
  await dev.shows("Esc cancels");
  dev.type("hello\r");
}

/** What a newcomer does. Each scene begins where the one before has ended. */
export const scenes: readonly Scene[] = [
  {
    title: "Make a bot",
    words: `\`service-bot\` is a checkout of this repository; from the registry the first line is
\`npm create service-bot@latest my-bot -- --yes\`. Without \`--yes\` it asks.`,
    play: (shell) => shell.run("node service-bot/create-bot.js my-bot --yes"),
  },
  {
    title: "Start it beside a local platform",
    words: `No account, no network. Then \`d\` is pressed, and "hello" typed: Ada writes it to the bot. The last three lines are what happened, its
delivery, and the bot's answer.`,
    play: async (shell) => {
      const dev = shell.open("npm run dev");
      await dev.shows(" bot ready");
      await writeHello(dev);
      await dev.shows(DELIVERED, said("Hi Ada! You wrote: hello"));
      return dev.takes();
    },
  },
  {
    title: "Talk to it from a second terminal",
    words: `The exit code says whether the bot has answered, so this works in scripts, too.`,
    play: async (shell) => {
      const shown = await shell.run(
        "npx service-bot trigger dm.message --from ben --text roll --wait",
      );
      await shell.opened.shows(DELIVERED, '."\n');
      shell.opened.takes();
      return shown;
    },
  },
  {
    title: "Change what it says",
    words: `In \`src/handlers/dm-message.ts\`, "Hi" becomes "Good morning". As soon as the file is saved, the bot starts again; then Ada
writes once more.`,
    play: async (shell) => {
      const dev = shell.opened;
      const file = join(shell.folder, "my-bot/src/handlers/dm-message.ts");
      writeFileSync(file, readFileSync(file, "utf8").replace("`Hi $", "`Good morning $"));
      await dev.shows(" bot ready");
      await writeHello(dev);
      await dev.shows(DELIVERED, said("Good morning Ada! You wrote: hello"));
      return dev.takes();
    },
  },
  {
    title: "Switch the webhook off",
    words: `\`w\`, pressed twice, switches it off, and Ada writes: nothing is delivered, and the bot finds the message in the event log. As none
comes by webhook, it polls from then on. \`w\` again, and Ada writes: it is delivered, and the bot goes back to the webhook. \`q\` ends it.`,
    play: async (shell) => {
      const dev = shell.opened;
      await press(dev, "w");
      await dev.shows("Press w again");
      await press(dev, "w");
      await dev.shows("webhook disabled");
      await writeHello(dev);
      await dev.shows("polling takes over");
      await press(dev, "w");
      await dev.shows("webhook enabled");
      await writeHello(dev);
      await dev.shows("the webhook is used again");
      await press(dev, "q");
      await within(dev.ended, () => "npm run dev did not end");
      return dev.takes();
    },
  },
  {
    title: "Run its tests",
    words:
      "Offline, without a port and without your `.env`. They ask where an answer goes and not for its words, so they pass with the new greeting.",
    play: (shell) => shell.run("npm test"),
  },
];
