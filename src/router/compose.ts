import { ServiceBotError } from "../errors.ts";
import { PendingTasks } from "../steps/pending-tasks.ts";
import type { Context } from "./context.ts";

/** Runs around every handler; `next` runs what comes after it. Without `next` the event ends here. */
export type Middleware = (context: Context, next: () => Promise<void>) => unknown;

/**
 * Nests middleware around `innermost`, the first one outermost. A `next()` that nobody awaits is
 * waited for all the same, and its failure is the middleware's.
 */
export function compose(
  middleware: readonly Middleware[],
  innermost: () => Promise<void>,
): (context: Context) => Promise<void> {
  return async (context) => {
    const enter = async (index: number): Promise<void> => {
      const current = middleware[index];
      if (current === undefined) return await innermost();
      const tasks = new PendingTasks();
      let entered = false;
      const next = () =>
        tasks.start(async () => {
          if (entered) throw calledTwice();
          entered = true;
          await enter(index + 1);
        });
      await tasks.run(() => current(context, next));
    };
    await enter(0);
  };
}

function calledTwice(): ServiceBotError {
  return new ServiceBotError(
    "NEXT_CALLED_TWICE",
    "A middleware called next() twice; the handlers would run twice. Call it once, and await it.",
  );
}
