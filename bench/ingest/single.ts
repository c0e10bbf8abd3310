import type { Benchmark, Stage } from "../harness/benchmark.ts";
import type { FormatName } from "../support/formats.ts";
import { Ingest } from "../support/ingest.ts";

/** What verifies and acknowledges, and stores nothing. */
const peers: Readonly<Record<string, FormatName>> = {
  octokit: "github",
  grammy: "telegram",
  stripe: "stripe",
  line: "line",
  standardwebhooks: "standard",
  bolt: "slack",
  probot: "github",
};

/** How fast one event a request is taken: verified, known from repeats and on the disk, beside those that store nothing. */
export const benchmark: Benchmark = {
  title: "10,000 deliveries of one event, 64 connections (--quick: 2,000)",
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 2_000 : 10_000;
    const ingest = new Ingest();
    const subjects = [
      ingest.subject("bare", await ingest.peer("bare", "service"), count),
      ingest.subject("hmac", await ingest.peer("bare-hmac", "service"), count),
      ingest.subject("own", await ingest.ours("own"), count),
      ingest.subject("bot", await ingest.ours("bot"), count),
    ];
    for (const [name, format] of Object.entries(peers)) {
      subjects.push(ingest.subject(name, await ingest.peer(name, format), count));
    }
    const unit = "requests/s";
    return {
      subjects,
      figures: [
        { name: "node:http, reads the body", sample: "bare", unit },
        { name: "node:http, HMAC, JSON.parse", sample: "hmac", unit },
        ...Object.keys(peers).map((name) => ({ name, sample: name, unit })),
        {
          ...{ name: "our listener, stored", sample: "own", unit, against: "hmac" },
          target: { number: 1, bound: 0.8, is: "at least" },
        },
        {
          ...{ name: "our listener, again", sample: "own", unit, against: Object.keys(peers) },
          target: { number: 1, bound: 1, is: "at least" },
        },
        { name: "a whole bot, at work on them", sample: "bot", unit, against: "hmac" },
      ],
      close: () => ingest.close(),
    };
  },
};
