import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../demo/process.ts";
import type { Opened, Shell } from "./shell.ts";

export interface Scene {
  readonly title: string;
  readonly words: string;
  play(shell: Shell): Promise<string>;
}

/** Endings of two lines, which may arrive in either order. */
const DELIVERED = "attempt 1\n";
const said = (text: string) => `"${text}"\n`;

/** Pause between keys, in ms. Keys in quicker succession count as pasted text. */
const BETWEEN_KEYS_MS = 500;

async function press(dev: Opened, key: string): Promise<void> {
  await sleep(BETWEEN_KEYS_MS);
  dev.type(key);
}

async function writeHello(dev: Opened): Promise<void> {
  await press(dev, "d");
  await dev.shows("Esc cancels");
  dev.type("hello\r");
}

/** Each scene continues from the previous one. */
export const scenes: readonly Scene[] = [
  {
    title: "Create a bot",
    words: `The folder \`service-bot\` is a clone of this repository. Without \`--yes\`, \`create-bot\` asks for each setting.`,
    play: (shell) => shell.run("node service-bot/create-bot.js my-bot --yes"),
  },
  {
    title: "Start it with a local platform",
    words: `Press \`d\`, and type a message as the user Ada. The last three lines show the event, its delivery and the bot's reply.`,
    play: async (shell) => {
      const dev = shell.open("npm run dev");
      await dev.shows(" bot ready");
      await writeHello(dev);
      await dev.shows(DELIVERED, said("Hi Ada! You wrote: hello"));
      return dev.takes();
    },
  },
  {
    title: "Send it a message from a second terminal",
    words: `The exit code is 1 if a handler fails, so scripts can use the command.`,
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
    title: "Change its reply",
    words: `In \`src/handlers/dm-message.ts\`, replace "Hi" with "Good morning" and save the file. The bot restarts, and Ada writes
again.`,
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
    words: `Press \`w\` twice to switch the webhook off. Ada writes, the bot finds her message in the event log, and from then on it
polls. Press \`w\` again to switch the webhook on. After the next delivery, the bot stops polling. \`q\` quits.`,
    play: async (shell) => {
      const dev = shell.opened;
      await press(dev, "w");
      await dev.shows("Press w again");
      await press(dev, "w");
      await dev.shows("webhook disabled");
      await writeHello(dev);
      await dev.shows('"mode":"polling","reason"');
      await press(dev, "w");
      await dev.shows("webhook enabled");
      await writeHello(dev);
      await dev.shows('"mode":"auditing","reason"');
      await press(dev, "q");
      await within(dev.ended, () => "npm run dev did not end");
      return dev.takes();
    },
  },
  {
    title: "Run its tests",
    words: `The tests need no network, no port and no \`.env\`. They pass with the new greeting, because they check where a reply
goes, not its text.`,
    play: (shell) => shell.run("npm test"),
  },
];
