import type { Benchmark, Figure, Stage } from "../harness/benchmark.ts";
import { cpuFigure, cpuFigures } from "../support/cpu.ts";
import type { FormatName } from "../support/formats.ts";
import { defaultBot, Ingest } from "../support/ingest.ts";

const unit = "events/s";

const bare: Figure = {
  ...{ name: "node:http, HMAC, JSON.parse", sample: "hmac", unit },
};
const express: Figure = {
  ...{ name: "Express, HMAC, JSON.parse", sample: "express", unit },
};
/** The upper limit for the bot, because every durable server must do this work. */
const durable: Figure = {
  ...{
    name: "the minimal durable server: HMAC, JSON.parse, the row and its outcome",
    sample: "durable",
  },
  ...{ unit, against: "express" },
};
/** The floor of a bot's promises: also a lease, which counts a crash, and a log line for the delivery and the run. */
const leased: Figure = {
  ...{ name: "the same with a lease and two log lines", sample: "leased", unit },
};
/** The server that a bot's author would write by hand. It has no outcomes, lanes, retries or handlers. */
const byHand: Figure = {
  ...{ name: "node:http, HMAC, one synced insert per event", sample: "by hand", unit },
};
/** The same with the event's end, which runs after the commit and shares the next transaction. */
const inboxByHand: Figure = { name: "the whole inbox by hand", sample: "inbox by hand", unit };
const bot: Figure = { name: "the whole bot, one event per delivery", sample: "bot", unit };
const away: Figure = { name: "the whole bot, its platform is away", sample: "away", unit };

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
    const subjects = [
      ingest.subject("bare", await ingest.peer("ingest/bare", "service"), count),
      ingest.subject("hmac", await ingest.peer("ingest/bare-hmac", "service"), count),
      ingest.subject("express", await ingest.peer("ingest/express", "service"), count),
      ingest.subject("durable", await ingest.durable({ endsEvents: true }), count),
      ingest.subject(
        "leased",
        await ingest.durable({ endsEvents: true, leasesEvents: true }),
        count,
      ),
      ingest.subject("by hand", await ingest.peer("ingest/by-hand", "service"), count),
      ingest.subject("inbox by hand", await ingest.inboxByHand(), count),
      ingest.subject("bot", await ingest.bot(defaultBot), count),
      ingest.subject("away", await ingest.bot({ ...defaultBot, platform: "away" }), count),
      ingest.subject("quiet", await ingest.bot({ handler: "nothing" }), count),
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
        ...Object.keys(peers).map((name) => ({ name, sample: name, unit })),
        durable,
        { ...durable, against: "hmac" },
        { ...bot, against: "express", target: BESIDE_EXPRESS },
        { ...bot, against: "hmac", target: BESIDE_BARE },
        { ...leased, against: "express" },
        { ...bot, against: "durable" },
        { ...bot, against: "leased" },
        byHand,
        { ...bot, against: "by hand" },
        inboxByHand,
        { ...bot, against: "inbox by hand" },
        { ...away, against: "bot" },
        {
          name: "the whole bot, DELIVERY=webhook, LOG_LEVEL=warn",
          sample: "quiet",
          unit,
          against: "bot",
        },
        ...cpuFigures(bot, express),
        ...cpuFigures(bot, byHand),
        ...cpuFigures(bot, leased),
        ...cpuFigures(bot, inboxByHand),
        cpuFigure(leased, inboxByHand),
        cpuFigure(leased, express),
        cpuFigure(away, bot),
      ],
      close: () => ingest.close(),
    };
  },
};

const BESIDE_EXPRESS = { number: 1, bound: 1.2, is: "at least" } as const;
const BESIDE_BARE = { number: 1, bound: 0.6, is: "at least" } as const;
