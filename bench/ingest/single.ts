import type { Benchmark, Figure, Stage } from "../harness/benchmark.ts";
import { cpuFigures } from "../support/cpu.ts";
import type { FormatName } from "../support/formats.ts";
import { Ingest } from "../support/ingest.ts";

const unit = "events/s";

const bare: Figure = {
  ...{ name: "node:http, HMAC, JSON.parse", sample: "hmac", unit },
  headline: "node:http with HMAC and JSON.parse: verified",
};
const express: Figure = {
  ...{ name: "Express, HMAC, JSON.parse", sample: "express", unit },
  headline: "Express with HMAC and JSON.parse: verified",
};
/** The upper limit for the bot, because every durable server must do this work. */
const durable: Figure = {
  ...{
    name: "the minimal durable server: HMAC, JSON.parse, the row and its outcome",
    sample: "durable",
  },
  ...{ unit, against: "express" },
};
const bot: Figure = { name: "the whole bot, one event per delivery", sample: "bot", unit };

/** These libraries verify and acknowledge each webhook, but store nothing. */
const peers: Readonly<Record<string, FormatName>> = {
  grammy: "telegram",
  octokit: "github",
  probot: "github",
  line: "line",
  standardwebhooks: "standard",
  stripe: "stripe",
  bolt: "slack",
};

/**
 * Measures deliveries of one event. service-bot verifies, deduplicates, stores and handles each event, and records its
 * outcome. The libraries store nothing.
 */
export const benchmark: Benchmark = {
  title: "10,000 deliveries of one event, 64 connections (--quick: 2,000)",
  warmUpRounds: 3,
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 2_000 : 10_000;
    const ingest = new Ingest();
    const logging = { LOG_LEVEL: "info" };
    const subjects = [
      ingest.subject("bare", await ingest.peer("ingest/bare", "service"), count),
      ingest.subject("hmac", await ingest.peer("ingest/bare-hmac", "service"), count),
      ingest.subject("express", await ingest.peer("ingest/express", "service"), count),
      ingest.subject("durable", await ingest.durable({ endsEvents: true }), count),
      ingest.subject("bot", await ingest.bot({ handler: "nothing" }), count),
      ingest.subject("logging", await ingest.bot({ handler: "nothing", env: logging }), count),
    ];
    for (const [name, format] of Object.entries(peers)) {
      subjects.push(ingest.subject(name, await ingest.peer(`ingest/${name}`, format), count));
    }
    return {
      subjects,
      figures: [
        { name: "node:http, reads the body", sample: "bare", unit },
        bare,
        express,
        ...Object.keys(peers).map((name) => {
          return { name, sample: name, unit, headline: `${name}: verified` };
        }),
        durable,
        { ...durable, against: "hmac" },
        { ...bot, against: "express", target: BESIDE_EXPRESS, headline: HEADLINE },
        { ...bot, against: "hmac", target: BESIDE_BARE },
        { ...bot, against: "durable" },
        {
          name: "the whole bot, LOG_LEVEL=info to /dev/null",
          sample: "logging",
          unit,
          against: "bot",
        },
        ...cpuFigures(bot, express),
      ],
      close: () => ingest.close(),
    };
  },
};

const HEADLINE = "service-bot: verified, deduplicated, stored, synced, handled";
const BESIDE_EXPRESS = { number: 1, bound: 1.2, is: "at least" } as const;
const BESIDE_BARE = { number: 1, bound: 0.6, is: "at least" } as const;
