import type { Benchmark, Figure, Samples, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { Endpoint } from "../processes/endpoint.ts";
import type { LoadProcess } from "../processes/load.ts";
import {
  type FilledLog,
  fillLog,
  type Place,
  places,
  type Reader,
  readers,
} from "../support/log.ts";
import { startPlatformProcess } from "../support/platform.ts";
import { perSecond } from "../support/rate.ts";

const LIMIT = 50;

interface Parts {
  readonly load: Child<LoadProcess>;
  readonly url: string;
  readonly log: FilledLog;
  readonly count: number;
}

/**
 * The log of a million events pages as fast at its end as at its beginning, whatever the token
 * may see of it, and also just before 300,000 events that it may not see.
 */
export const benchmark: Benchmark = {
  title: `pages of ${LIMIT} of the event log of two apps, 1,000,000 events long (--quick: 50,000)`,
  quickRounds: 1,
  async prepare({ quick }): Promise<Stage> {
    const platform = await startPlatformProcess();
    const endpoint = new Child<Endpoint>("processes/endpoint.ts");
    const load = new Child<LoadProcess>("processes/load.ts");
    const log = await fillLog(platform, quick ? 50_000 : 1_000_000);
    const bare = await endpoint.call("listen");
    await endpoint.call("reply", 200, await pageOf(platform.url, log.tokens.all));
    const parts: Parts = { load, url: platform.url, log, count: quick ? 200 : 500 };
    const limit = async () => ({
      bare: await pagesPerSecond({ ...parts, url: bare }, "all", "start"),
    });
    return {
      subjects: [
        limit,
        ...readers.flatMap((reader) => places.map((place) => page(parts, reader, place))),
      ],
      figures: [
        { name: "the same bytes from a bare server", sample: "bare", unit: "pages/s" },
        ...readers.flatMap((reader) => places.map((place) => figure(reader, place))),
      ],
      async close() {
        await platform.close();
        await Promise.all([endpoint.stop(), load.stop()]);
      },
    };
  },
};

function page(parts: Parts, reader: Reader, place: Place): () => Promise<Samples> {
  return async () => ({ [`${reader} ${place}`]: await pagesPerSecond(parts, reader, place) });
}

function figure(reader: Reader, place: Place): Figure {
  const token = reader === "all" ? "all scopes" : `${reader} alone`;
  const where = { start: "at the start", barren: "before what it may not see", end: "at the end" };
  return {
    name: `${token}, ${where[place]}`,
    sample: `${reader} ${place}`,
    unit: "pages/s",
    against: place === "start" ? "bare" : `${reader} start`,
  };
}

/** One reader that asks for the same page again and again, over one connection. */
async function pagesPerSecond(
  { load, url, log, count }: Parts,
  reader: Reader,
  place: Place,
): Promise<number> {
  const headers = { authorization: `Bearer ${log.tokens[reader]}` };
  const path = `/api/v1/events?limit=${LIMIT}&since=${log.cursors[reader][place]}`;
  const requests = [{ method: "GET", path, headers }];
  return perSecond(count, await load.call("run", { url, requests, count }));
}

async function pageOf(url: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/v1/events?limit=${LIMIT}`, { headers });
  return await response.text();
}
