import { createHook } from "node:async_hooks";
import { onTestFinished } from "vitest";

export interface Counted {
  readonly count: number;
  /** Number of names that the process asked the system to resolve. */
  readonly lookups: number;
}

export function countConnections(): Counted {
  const counted = { count: 0, lookups: 0 };
  const hook = createHook({
    init(_id, type) {
      if (type === "TCPCONNECTWRAP") counted.count += 1;
      if (type === "GETADDRINFOREQWRAP") counted.lookups += 1;
    },
  }).enable();
  onTestFinished(() => {
    hook.disable();
  });
  return counted;
}
