import { existsSync } from "node:fs";
import { version } from "../../core/version.ts";
import type { Platform } from "../../platform/index.ts";
import { localWebhookUrl, readDotEnv, variable } from "../dot-env.ts";
import { print, printLine, printStyled } from "../output.ts";
import { ownCommand } from "../own-command.ts";
import { portalUrls } from "../platform/portal-urls.ts";
import { platformFlags, platformSettings } from "../platform/settings.ts";
import { startLocalPlatform } from "../platform/start.ts";
import { untilSignal } from "../until-signal.ts";
import { type Command, CommandError, readArguments, textFlag } from "../usage.ts";
import { BotProcess } from "./bot-process.ts";
import { KEYS, listenToKeys } from "./keys.ts";
import { logFormatter } from "./log-lines.ts";
import { openInBrowser } from "./open-in-browser.ts";
import { clockTime, tellTimeline } from "./timeline-lines.ts";

const STATE_FILE = ".service-bot/dev.db";

/** A developer does not wait half a minute to see a retry, in milliseconds. */
const RETRY_INTERVAL_MS = 5_000;

export const dev: Command = {
  summary: "the local platform and the bot, with a restart on every change",
  usage:
    "dev [--entry src/main.ts] [--port 4400] [--host 127.0.0.1] [--allow-host NAME]\n" +
    "                       [--state .service-bot/dev.db] [--retry-interval 5000] [--disable-after N]",
  run: async (args) => {
    const given = readArguments(args, { ...platformFlags, entry: { type: "string" } }, { max: 0 });
    readDotEnv();
    const entry = textFlag(given, "entry") ?? "src/main.ts";
    if (!existsSync(entry)) {
      throw new CommandError(
        `${entry} is not here. Run this in the bot's folder, or name it: --entry FILE`,
      );
    }
    const settings = platformSettings(given);
    const { stateFile = STATE_FILE, retryIntervalMs = RETRY_INTERVAL_MS } = settings;
    const platform = await startLocalPlatform("dev", { ...settings, stateFile, retryIntervalMs });
    try {
      await serve(platform, { entry, stateFile, portals: portalUrls(platform, settings.host) });
    } finally {
      await platform.stop();
    }
    return 0;
  },
};

interface Served {
  readonly entry: string;
  readonly stateFile: string;
  /** Where the portal can be opened. */
  readonly portals: readonly string[];
}

async function serve(platform: Platform, { entry, stateFile, portals }: Served): Promise<void> {
  const webhook = localWebhookUrl();
  const isReporting = () => {
    const { bot, reportingBots } = platform.control.state();
    return reportingBots.includes(bot.username);
  };
  const format = await logFormatter({ colour: process.stdout.isTTY, webhook, isReporting });
  print(`service-bot dev ${version()} · node ${process.versions.node} · state ${stateFile}`);
  print(`  portal    ${portals.join("\n            ")}`);
  print(`  webhook   ${webhook}`);
  print(process.stdin.isTTY ? `  ${KEYS}` : `  ${ownCommand()} trigger dm.message --text hello`);
  print("");
  tellTimeline(platform);
  platform.control.saveWebhook({ url: webhook, enabled: true });
  const bot = new BotProcess({
    entry,
    env: botEnvironment(platform),
    onLine: (line) => {
      const text = format(line);
      if (text !== undefined) printStyled(text);
    },
  });
  const quit = Promise.withResolvers<void>();
  const stopKeys = listenToKeys({
    platform,
    say: printLine,
    quit: quit.resolve,
    open: openInBrowser,
  });
  await Promise.race([quit.promise, untilSignal(), bot.exited]);
  stopKeys();
  print(`${clockTime(Date.now())} stopping`);
  await bot.stop();
}

/** The bot talks to this platform, and looks at the log often enough to watch it take over. */
function botEnvironment(platform: Platform): Record<string, string> {
  return {
    SERVICE_BASE_URL: platform.url,
    SERVICE_API_KEY: platform.apiKey,
    SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
    AUDIT_INTERVAL_MS: variable("AUDIT_INTERVAL_MS") ?? String(RETRY_INTERVAL_MS),
    SILENCE_MS: variable("SILENCE_MS") ?? String(RETRY_INTERVAL_MS * 1.5),
  };
}
