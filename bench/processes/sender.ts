import { answer } from "../harness/child.ts";
import { Connection } from "../support/connection.ts";
import { type FormatName, formats } from "../support/formats.ts";
import { frame } from "../support/frame.ts";

/** Requests to make before they are sent. */
export interface Requests {
  /** Origin, `http:` alone. */
  readonly url: string;
  readonly format: FormatName;
  readonly count: number;
  /** How many events each has; where others have one alone, that is 1. */
  readonly events: number;
  /** The number of the first one: numbers that were not used before make events that are new. */
  readonly from: number;
}

let ready: { readonly url: string; readonly frames: readonly Buffer[] } | undefined;

/** Keeps `connections` requests under way until each was sent once. */
async function send(connections: number): Promise<number> {
  if (ready === undefined) throw new Error("call `make` before `send`");
  const { url, frames } = ready;
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(url)));
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    let next = 0;
    let answered = 0;
    const go = (connection: Connection) => {
      const bytes = frames[next];
      next += 1;
      if (bytes === undefined) return;
      connection.send(bytes, (error) => {
        if (error !== undefined) return reject(error);
        answered += 1;
        if (answered === frames.length) resolve();
        else go(connection);
      });
    };
    for (const connection of open) go(connection);
  });
  const ms = performance.now() - started;
  for (const connection of open) connection.close();
  ready = undefined;
  return ms;
}

const handlers = {
  /** Makes and signs the requests of the next `send`: what that costs is nobody's time. */
  make: ({ url, format, count, events, from }: Requests): void => {
    const { host } = new URL(url);
    const frames = Array.from({ length: count }, (_, nth) =>
      frame(formats[format](from + nth, events), host),
    );
    ready = { url, frames };
  },
  /** Resolves to how long it took, in ms. Rejects when an answer is not 200 to 299. */
  send: (connections: number): Promise<number> => send(connections),
};

export type Sender = typeof handlers;

answer(handlers);
