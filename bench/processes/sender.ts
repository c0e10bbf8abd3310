import { answer } from "../harness/child.ts";
import { Connection } from "../support/connection.ts";
import { type FormatName, formats } from "../support/formats.ts";
import { frame } from "../support/frame.ts";

export interface Requests {
  /** Origin of the receiver, which must use `http:`. */
  readonly url: string;
  readonly format: FormatName;
  readonly count: number;
  /** Events per request. Must be 1 for formats without batches. */
  readonly events: number;
  /** Number of the first request. Unused numbers create new events. */
  readonly from: number;
}

let ready: { readonly url: string; readonly frames: readonly Buffer[] } | undefined;

/** Keeps `connections` requests in flight until every request has been sent once. */
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
  /** Creates and signs the requests for the next `send`, so that this work is not timed. */
  make: ({ url, format, count, events, from }: Requests): void => {
    const { host } = new URL(url);
    const frames = Array.from({ length: count }, (_, nth) =>
      frame(formats[format](from + nth, events), host),
    );
    ready = { url, frames };
  },
  /** Resolves to the duration in ms. Rejects if a response is not 2xx. */
  send: (connections: number): Promise<number> => send(connections),
};

export type Sender = typeof handlers;

answer(handlers);
