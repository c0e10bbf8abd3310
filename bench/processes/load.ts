import { answer } from "../harness/child.ts";
import { Connection } from "../support/connection.ts";
import { frame, type LoadRequest } from "../support/frame.ts";

/** Requests to send: all alike, or those of a list in turn. */
export interface Load {
  /** Origin, `http:` alone. */
  readonly url: string;
  readonly requests: readonly LoadRequest[];
  /** How many requests there are in all; the list begins again as often as needed. */
  readonly count: number;
  /** How many are under way at once, each on a connection of its own that is kept. Default 1. */
  readonly connections?: number;
  /** A new connection for every request. Default false. */
  readonly fresh?: boolean;
}

/** Sends everything. @returns how long it took, in ms @throws {Error} an answer is not 200 to 299 */
async function run(load: Load): Promise<number> {
  const { url, count, connections = 1, fresh = false } = load;
  const frames = load.requests.map((request) => frame(request, new URL(url).host));
  let next = 0;
  const worker = async () => {
    let connection = await Connection.open(url);
    while (next < count) {
      const bytes = frames[next % frames.length];
      next += 1;
      if (bytes !== undefined) await connection.exchange(bytes);
      if (!fresh) continue;
      connection.close();
      if (next < count) connection = await Connection.open(url);
    }
    connection.close();
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, worker));
  return performance.now() - started;
}

const handlers: { readonly run: typeof run } = { run };

export type LoadProcess = typeof handlers;

answer(handlers);
