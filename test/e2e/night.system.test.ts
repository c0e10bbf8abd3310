import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Bot, BotOptions, BotStatus, Handler } from "../../src/index.ts";
import type { Platform } from "../faces/platform.ts";
import { SmallDisk } from "../faults/driver/disk.ts";
import { reservePort } from "../support/reserve-port.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { documentedCauses, firing, hasPromtool } from "./night/alerts.ts";
import {
  CALM_MINUTES,
  FAULT_MINUTES,
  MENDED_MINUTES,
  readScrape,
  type Scrape,
  seriesOf,
} from "./night/series.ts";

const DISABLE_AFTER = 3;

/**
 * Time between two scrapes during a fault, in ms. Many times the interval between reads of the log, so that an age that
 * keeps growing stands out.
 */
const APART_MS = 2_000;

/** Time limit for a status, in ms. Allows for a machine that is busy with other tests. */
const TIMEOUT_MS = 20_000;

/** Intervals and timeouts short enough for a test. */
const hurried: BotOptions = {
  ...{ pollIntervalMs: 50, auditIntervalMs: 100, silenceMs: 2_000, requestTimeoutMs: 1_000 },
  ...{ maxAttempts: 2, retry: { baseMs: 10, maxMs: 100 } },
  // Lower than the default, so that a small disk does not count as full from the start.
  minFreeBytes: 65_536,
};

/** A bot with metrics on a platform, and the messages that it owes a reply. */
class Night {
  readonly platform: Platform;
  isMended = false;
  #bot: Bot | undefined;
  #options: BotOptions;

  private constructor(platform: Platform, options: BotOptions) {
    this.platform = platform;
    this.#options = options;
  }

  /**
   * @param folder for the inbox
   * @param disableAfter consecutive failures after which the platform disables the webhook
   */
  static async begin(folder: string, disableAfter: number): Promise<Night> {
    const platform = await runPlatform({ retryIntervalMs: 150, disableAfter });
    const databaseUrl = `file:${join(folder, "bot.db")}`;
    const port = await reservePort();
    const night = new Night(platform, { ...hurried, databaseUrl, port, metricsPort: 0 });
    await night.restart();
    await night.answered(night.write("all is well"));
    await night.until(({ mode, inbox }) => mode === "auditing" && inbox?.pending === 0);
    return night;
  }

  /** Replaces the bot by one with these options. */
  async restart(change: BotOptions = {}): Promise<void> {
    await this.#bot?.stop();
    this.#options = { ...this.#options, ...change };
    const answer: Handler<"dm.message"> = async (ctx) => {
      const { excerpt } = ctx.payload;
      if (excerpt === "poison" && !this.isMended) throw new TypeError("cannot read its name");
      await ctx.reply(`answer to ${excerpt}`);
    };
    const register = (bot: Bot) => bot.on("dm.message", answer);
    this.#bot = (await runBot(this.platform, register, this.#options)).bot;
  }

  get bot(): Bot {
    if (this.#bot === undefined) throw new Error("the bot has not started");
    return this.#bot;
  }

  /** Saves the webhook as the owner does in the portal. Saving enables the webhook and resets its failure count. */
  saveWebhook(): void {
    this.platform.control.saveWebhook({ url: `${this.bot.url}/webhook` });
  }

  /** Returns the message's text. Each user has a separate conversation. */
  write(text: string, from = "ada"): string {
    this.platform.control.act({ type: "dm.message", from, text });
    return text;
  }

  async answered(text: string): Promise<void> {
    const answer = `answer to ${text}`;
    await this.platform.waitFor("api", (entry) => entry.text === answer && entry.status === 201);
  }

  async until(fits: (status: BotStatus) => boolean): Promise<void> {
    const look = async () => {
      const status = await this.bot.status();
      if (!fits(status)) throw new Error(`not yet: ${JSON.stringify(status)}`);
    };
    await vi.waitFor(look, { timeout: TIMEOUT_MS, interval: 20 });
  }

  async scrape(): Promise<Scrape> {
    return readScrape(await (await fetch(this.bot.metricsUrl ?? "")).text());
  }
}

interface Cause {
  /** Row of the table in docs/operate/alerts.md. */
  readonly name: string;
  /** Breaks something. Resolves once the bot is in trouble, to the message that it cannot answer. */
  strike(night: Night, disk: SmallDisk | undefined): Promise<string | undefined>;
  mend(night: Night, disk: SmallDisk | undefined): unknown;
}

const causes: readonly Cause[] = [
  {
    name: "the platform is down",
    async strike(night) {
      night.platform.control.setFaults({ api: { mode: "status", status: 503 } });
      const waiting = night.write("are you there?");
      await night.until(({ inbox, log }) => inbox?.pending === 1 && hasPollError(log));
      return waiting;
    },
    mend: ({ platform }) => platform.control.setFaults({ api: { mode: "none" } }),
  },
  {
    name: "the token is revoked",
    async strike(night) {
      for (const { id } of night.platform.control.apps.tokens()) {
        night.platform.control.apps.revokeToken(id);
      }
      const waiting = night.write("who are you?");
      await night.until(({ inbox, log }) => inbox?.pending === 1 && hasPollError(log));
      return waiting;
    },
    async mend(night) {
      const scopes = ["read", "dm", "posts:write", "comments:write"] as const;
      await night.restart({ apiKey: night.platform.control.createToken([...scopes]).apiKey });
    },
  },
  {
    name: "the disk is full",
    async strike(night, disk) {
      disk?.fill();
      const refused = night.write("is there room?");
      await night.platform.waitFor("delivery", ({ status }) => status === 503);
      return refused;
    },
    mend: (_night, disk) => disk?.free(),
  },
  {
    name: "a poison event",
    async strike(night) {
      night.write("poison", "ben");
      await night.until(({ inbox }) => inbox?.deadLetters === 1 && inbox.pending === 0);
      return undefined;
    },
    async mend(night) {
      night.isMended = true;
      await night.bot.inbox.retry({ state: "dead" });
      await night.answered("poison");
    },
  },
  {
    name: "the webhook is disabled",
    async strike(night) {
      const fault = { mode: "status", status: 502, times: DISABLE_AFTER } as const;
      night.platform.control.setFaults({ webhook: fault });
      return await untilDisabled(night);
    },
    mend: (night) => night.saveWebhook(),
  },
  {
    name: "the clock is wrong",
    async strike(night) {
      // Change the platform's clock, because a test must not change the machine's clock.
      night.platform.control.clock.set({ advanceMs: 600_000 });
      return await untilDisabled(night);
    },
    mend(night) {
      night.platform.control.clock.set({ now: new Date().toISOString() });
      night.saveWebhook();
    },
  },
];

function hasPollError(log: BotStatus["log"]): boolean {
  return (log?.lastPollError ?? undefined) !== undefined;
}

async function untilDisabled(night: Night): Promise<string> {
  const lost = night.write("did you get it?");
  await night.platform.waitFor("webhook", ({ change }) => change === "disabled");
  await night.answered(lost);
  await night.until(({ mode }) => mode === "polling");
  return lost;
}

test("docs/operate/alerts.md lists these causes", () => {
  expect(documentedCauses().map(([name]) => name)).toEqual(causes.map(({ name }) => name));
});

test.skipIf(!hasPromtool).each(causes)(
  "$name: exactly the documented alerts fire, and no longer once it is repaired",
  { timeout: 90_000 },
  async ({ name, strike, mend }) => {
    const disk = name === "the disk is full" ? SmallDisk.mount(64) : undefined;
    if (name === "the disk is full" && disk === undefined) return;
    // The bot closes its files first, because callbacks run in reverse order.
    if (disk !== undefined) onTestFinished(() => disk.unmount());
    // A full disk alone must not disable the webhook.
    const disableAfter = disk === undefined ? DISABLE_AFTER : 1_000;
    const night = await Night.begin(disk?.folder ?? temporaryFolder(), disableAfter);
    const calm = await night.scrape();
    const waiting = await strike(night, disk);
    const fault = await night.scrape();
    const began = performance.now();
    await night.until(() => performance.now() - began > APART_MS);
    const later = await night.scrape();
    const elapsed = (performance.now() - began) / 1000;
    await mend(night, disk);
    if (waiting !== undefined) await night.answered(waiting);
    await night.answered(night.write("and now?"));
    await night.until(
      ({ ready, mode, inbox }) => ready && mode === "auditing" && inbox?.pending === 0,
    );
    const series = seriesOf({ calm, fault, later, elapsed, mended: await night.scrape() });
    const faultEnd = CALM_MINUTES + FAULT_MINUTES;
    expect({
      calm: await firing(series, CALM_MINUTES - 1),
      fault: await firing(series, faultEnd - 1),
      mended: await firing(series, faultEnd + MENDED_MINUTES - 1),
    }).toEqual({ calm: [], fault: new Map(documentedCauses()).get(name), mended: [] });
  },
);
