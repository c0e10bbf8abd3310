import type { Benchmark, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { EventRows } from "../processes/event-rows.ts";
import { Ingest } from "../support/ingest.ts";
import { perSecond } from "../support/rate.ts";

const BATCH = 50;

/** Deliveries of 50 events, beside SQLite alone that writes the same rows. */
export const benchmark: Benchmark = {
  title: `50,000 events in deliveries of ${BATCH}, 64 connections (--quick: 10,000)`,
  async prepare({ quick }): Promise<Stage> {
    const events = quick ? 10_000 : 50_000;
    const ingest = new Ingest();
    const rows = new Child<EventRows>("processes/event-rows.ts");
    const unit = "events/s";
    return {
      subjects: [
        async () => ({ rows: perSecond(events, await rows.call("insert", events)) }),
        ingest.subject("hmac", await ingest.peer("bare-hmac", "service"), events / BATCH, BATCH),
        ingest.subject("own", await ingest.ours("own"), events / BATCH, BATCH),
      ],
      figures: [
        { name: "SQLite, the same rows, 500 to a transaction", sample: "rows", unit },
        { name: "node:http, HMAC, JSON.parse, nothing stored", sample: "hmac", unit },
        {
          ...{ name: "our listener", sample: "own", unit, against: "rows" },
          target: { number: 3, bound: 0.6, is: "at least" },
        },
        { name: "our listener, again", sample: "own", unit, against: "hmac" },
      ],
      close: async () => {
        await ingest.close();
        await rows.call("close");
        await rows.stop();
      },
    };
  },
};
