import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Platform, startPlatform } from "../../faces/platform.ts";
import { check } from "../../faults/driver/checker.ts";
import { Ledger } from "../../faults/driver/ledger.ts";
import { Load, type LoadOptions } from "../../faults/driver/load.ts";
import { untilSettled } from "../../faults/driver/settle.ts";
import type { Store } from "../../faults/driver/store.ts";
import { chooseSeed, Random } from "../../faults/random.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { ComposeProject, DOMAIN } from "../support/compose.ts";
import { docker, hostAddress } from "../support/given.ts";
import { twoVersions, useVersion, type Version } from "./versions.ts";

const ANSWERS = 2;

/** Pause between two messages, in ms. Short, so that deliveries arrive at every point of an upgrade. */
const PAUSE_MS = 65;

const STUCK_MS = 60_000;

export interface Delivery {
  /** When the delivery ended, by `performance.now()`, in ms. */
  readonly at: number;
  readonly eventIds: readonly string[];
  readonly status: number | null;
  /** Why the bot did not accept the delivery, or `undefined` if it did. */
  readonly refusal: string | undefined;
}

/** A scaffolded bot run by its Compose files, a platform on this machine, and a ledger of their traffic. */
export class Deployment {
  readonly project: ComposeProject;
  readonly platform: Platform;
  readonly ledger: Ledger;
  readonly webhookUrl: string;
  readonly before: Version;
  readonly after: Version;
  readonly deliveries: Delivery[] = [];
  readonly #folder: string;

  private constructor(
    folder: string,
    project: ComposeProject,
    platform: Platform,
    webhookUrl: string,
    [before, after]: readonly [Version, Version],
  ) {
    this.#folder = folder;
    this.project = project;
    this.platform = platform;
    this.webhookUrl = webhookUrl;
    this.before = before;
    this.after = after;
    this.ledger = new Ledger(platform, ANSWERS);
    platform.onTimeline((entry) => {
      if (entry.kind !== "delivery") return;
      const { eventIds, status, error: refusal } = entry;
      this.deliveries.push({ at: performance.now(), eventIds, status, refusal });
    });
  }

  /** Scaffolds a bot with the handlers from `bot.ts` and the earlier version. Does not start the bot. */
  static async create(name: string, flags: readonly string[]): Promise<Deployment> {
    const folder = mkdtempSync(join(tmpdir(), `${name}-`));
    const project = await ComposeProject.scaffold(docker, folder, name, flags);
    takeHandlers(project.dir);
    const versions = await twoVersions(project.dir);
    const host = await hostAddress();
    const platform = await startPlatform({ host, retryIntervalMs: 200, disableAfter: 1_000_000 });
    project.configure({
      SERVICE_BASE_URL: platform.url,
      SERVICE_API_KEY: platform.apiKey,
      SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
      // Use Caddy without https, because starter.containers.test.ts covers https.
      BOT_DOMAIN: `http://${DOMAIN}`,
      // Kills must not use up the attempts.
      MAX_ATTEMPTS: "1000",
      LOG_LEVEL: "warn",
    });
    const webhookUrl = `http://${DOMAIN}:${await publish(project.dir)}/webhook`;
    platform.control.saveWebhook({ url: webhookUrl });
    const deployment = new Deployment(folder, project, platform, webhookUrl, versions);
    deployment.use(deployment.before);
    return deployment;
  }

  use(version: Version): void {
    useVersion(this.project.dir, version);
  }

  load(options: Partial<LoadOptions> = {}): Load {
    const random = new Random(chooseSeed());
    return new Load({ ledger: this.ledger, random, pauseMs: () => PAUSE_MS, ...options });
  }

  deliveriesSince(began: number): Delivery[] {
    return this.deliveries.filter(({ at }) => at >= began);
  }

  /** Waits until every event is handled. Resolves to one sentence per broken promise. */
  async violations(store: Store): Promise<string[]> {
    const stuck = await untilSettled(store, this.ledger, STUCK_MS);
    if (stuck !== undefined) throw new Error(stuck);
    return check(await this.ledger.observe(store));
  }

  async remove(): Promise<void> {
    await this.project.remove();
    await this.platform.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Publishes Caddy on a free port, because other tests use ports 80 and 443. Resolves to the port. */
async function publish(project: string): Promise<number> {
  const path = join(project, "compose.yaml");
  const port = await reservePort();
  const published = /^( +)- "80:80"\n +- "443:443"\n +- "443:443\/udp"$/m;
  const text = readFileSync(path, "utf8");
  if (!published.test(text)) throw new Error("compose.yaml publishes other ports");
  writeFileSync(path, text.replace(published, `$1- "127.0.0.1:${port}:80"`));
  return port;
}

/** Replaces the starter's handlers with those from `bot.ts`, and makes them import the service-bot package. */
function takeHandlers(project: string): void {
  const src = join(project, "src");
  rmSync(src, { recursive: true });
  mkdirSync(src);
  const behaviours = join(import.meta.dirname, "../../faults/bot/behaviours.ts");
  const text = readFileSync(join(import.meta.dirname, "bot.ts"), "utf8")
    .replace("../../../src/index.ts", "service-bot")
    .replace("../../faults/bot/behaviours.ts", "./behaviours.ts");
  writeFileSync(join(src, "main.ts"), text);
  copyFileSync(behaviours, join(src, "behaviours.ts"));
}
