import { answer } from "../harness/child.ts";

const handlers = {
  /** Reads a log from beginning to end and stores nothing. Resolves to the duration in ms. */
  read: async (origin: string): Promise<number> => {
    const headers = { accept: "application/json", authorization: "Bearer sbk_bench_bench" };
    const started = performance.now();
    let since: string | undefined;
    for (;;) {
      const position = since === undefined ? "" : `&since=${since}`;
      const response = await fetch(`${origin}/api/v1/events?limit=50${position}`, { headers });
      const { cursor } = (await response.json()) as { cursor: string };
      if (cursor === since) return performance.now() - started;
      since = cursor;
    }
  },
};

export type PageLoop = typeof handlers;

answer(handlers);
