import { existsSync } from "node:fs";
import { version } from "../../core/manifest.ts";
import type { Platform } from "../../platform/index.ts";
import { type Command, CommandError, defineCommand, ownCommand, untilSignal } from "../command.ts";
import { writeControlFile } from "../control.ts";
import { readDotEnv, usualPlatformUrl } from "../environment.ts";
import {
  DEV_STATE_FILE,
  platformFlags,
  platformSettings,
  portalUrls,
  startLocalPlatform,
} from "../local-platform.ts";
import { clockTime, print } from "../output.ts";
import { KEYS, Keyboard } from "./keys.ts";
import {
  type ChosenPort,
  chooseBotPort,
  DevSession,
  findFreePort,
  RETRY_INTERVAL_MS,
} from "./session.ts";

export const dev: Command = defineCommand({
  name: "dev",
  summary: "Starts the local platform and the bot, and restarts the bot on each change",
  flags: {
    entry: { type: "string", value: "src/main.ts", help: "file that starts the bot" },
    ...platformFlags,
    state: {
      ...platformFlags.state,
      value: DEV_STATE_FILE,
      help: "store the platform's state, including secrets, in this file",
    },
    "retry-interval": { ...platformFlags["retry-interval"], value: `${RETRY_INTERVAL_MS}` },
  },
  run: async ({ flags: given }) => {
    const environment = { ...process.env };
    readDotEnv();
    const { entry = "src/main.ts" } = given;
    if (!existsSync(entry)) {
      throw new CommandError(
        `${entry} does not exist. Run this command in the bot's folder, or use --entry FILE.`,
      );
    }
    const settings = platformSettings(given);
    const { stateFile = DEV_STATE_FILE, retryIntervalMs = RETRY_INTERVAL_MS, host } = settings;
    const port =
      given.port === undefined
        ? await findFreePort(host ?? "127.0.0.1", settings.port)
        : settings.port;
    const botPort = await chooseBotPort();
    const options = { ...settings, port, stateFile, retryIntervalMs };
    const platform = await startLocalPlatform("dev", options);
    const removeControlFile = writeControlFile(platform);
    try {
      print(`service-bot dev ${version()} · node ${process.versions.node} · state ${stateFile}`);
      print(`  portal    ${portalUrls(platform, host).join("\n            ")}`);
      if (port !== settings.port) print(movedLine(settings.port, "the platform", port));
      await serve(platform, { entry, environment, botPort });
    } finally {
      removeControlFile();
      await platform.stop();
    }
    return 0;
  },
});

interface Served {
  readonly entry: string;
  /** The environment without the variables from `.env`. */
  readonly environment: NodeJS.ProcessEnv;
  readonly botPort: ChosenPort;
}

async function serve(platform: Platform, { entry, environment, botPort }: Served): Promise<void> {
  const keyboard = new Keyboard({ platform });
  const session = new DevSession({ platform, entry, environment, keyboard });
  const { port, occupiedPort } = botPort;
  print(`  webhook   ${session.webhook(port)}`);
  if (occupiedPort !== undefined) print(movedLine(occupiedPort, "the bot", port));
  print(process.stdin.isTTY ? `  ${KEYS}` : `  ${triggerLine(platform)}`);
  print("");
  await session.start(port);
  keyboard.listen();
  await Promise.race([keyboard.quit, untilSignal(), session.ended]);
  keyboard.stop();
  print(`${clockTime(Date.now())} stopping`);
  await session.stop();
}

function movedLine(occupiedPort: number, who: string, port: number): string {
  return `  note      port ${occupiedPort} is in use; ${who} uses ${port}`;
}

function triggerLine({ url }: Platform): string {
  const where = url === usualPlatformUrl() ? "" : ` --platform ${url}`;
  return `${ownCommand()} trigger dm.message --text hello${where}`;
}
