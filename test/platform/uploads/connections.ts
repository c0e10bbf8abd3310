import { createHook } from "node:async_hooks";
import { onTestFinished } from "vitest";

/** Counts the TCP connections that this process begins until the end of the test. */
export function countConnections(): { readonly count: number } {
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "TCPCONNECTWRAP") count += 1;
    },
  }).enable();
  onTestFinished(() => {
    hook.disable();
  });
  return {
    get count() {
      return count;
    },
  };
}
