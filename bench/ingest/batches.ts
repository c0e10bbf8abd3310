import type { Benchmark, Figure, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { EventRows } from "../processes/event-rows.ts";
import { Ingest } from "../support/ingest.ts";
import { perSecond } from "../support/rate.ts";

const BATCH = 50;

const unit = "events/s";

const loop: Figure = { name: "SQLite, the same rows, 500 per transaction", sample: "rows", unit };
/** The upper limit for the receiver and its inbox. */
const durable: Figure = {
  name: "the minimal durable server: HMAC, JSON.parse, the rows",
  ...{ sample: "durable", unit, against: "rows" },
};
const ours: Figure = {
  ...{ name: "receiver and inbox, deliveries of 50", sample: "ours", unit, against: "rows" },
  target: { number: 3, bound: 0.7, is: "at least" },
};

export const benchmark: Benchmark = {
  title: `50,000 events in deliveries of ${BATCH}, 64 connections (--quick: 10,000)`,
  async prepare({ quick }): Promise<Stage> {
    const events = quick ? 10_000 : 50_000;
    const ingest = new Ingest();
    const rows = new Child<EventRows>("processes/event-rows.ts", { side: "measured" });
    return {
      subjects: [
        async () => ({ rows: perSecond(events, await rows.call("insert", events)) }),
        ingest.subject(
          "durable",
          await ingest.durable({ endsEvents: false }),
          events / BATCH,
          BATCH,
        ),
        ingest.subject("ours", await ingest.receiver(), events / BATCH, BATCH),
      ],
      figures: [loop, durable, ours],
      close: async () => {
        await ingest.close();
        await rows.call("close");
        await rows.stop();
      },
    };
  },
};
