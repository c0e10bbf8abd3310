import type { Benchmark, Figure, Stage } from "../harness/benchmark.ts";
import { cpuFigure, cpuFigures } from "../support/cpu.ts";
import { defaultBot, Ingest } from "../support/ingest.ts";

const unit = "events/s";

const byHand: Figure = {
  name: "node:http, HMAC, one synced insert per event, cold",
  ...{ sample: "by hand", unit },
};
const inboxByHand: Figure = {
  name: "the whole inbox by hand, cold",
  ...{ sample: "inbox by hand", unit },
};
const express: Figure = { name: "Express, HMAC, JSON.parse, cold", sample: "express", unit };
const bot: Figure = { name: "the whole bot, cold", sample: "bot", unit };
const away: Figure = { name: "the whole bot, its platform is away, cold", sample: "away", unit };

/** Measures the first deliveries of a new process, whose code V8 has not optimized yet. */
export const benchmark: Benchmark = {
  title: "the first 10,000 deliveries of a new process, 64 connections (--quick: 2,000)",
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 2_000 : 10_000;
    const ingest = new Ingest();
    return {
      subjects: [
        ingest.coldSubject("by hand", () => ingest.peer("ingest/by-hand", "service"), count),
        ingest.coldSubject("inbox by hand", () => ingest.inboxByHand(), count),
        ingest.coldSubject("express", () => ingest.peer("ingest/express", "service"), count),
        ingest.coldSubject("bot", () => ingest.bot(defaultBot), count),
        ingest.coldSubject("away", () => ingest.bot({ ...defaultBot, platform: "away" }), count),
      ],
      figures: [
        byHand,
        inboxByHand,
        express,
        { ...bot, against: "by hand" },
        { ...bot, against: "express" },
        { ...away, against: "bot" },
        ...cpuFigures(bot, byHand),
        ...cpuFigures(bot, inboxByHand),
        cpuFigure(express),
        cpuFigure(away, bot),
      ],
      close: () => ingest.close(),
    };
  },
};
