import { onOrder } from "./protocol.ts";

/**
 * Sets the clock of this process as an administrator would set the machine's: the time of day jumps, and what
 * measures spans (`performance.now`, timers) goes on as if nothing had happened.
 *
 * @param offsetMs how far it is ahead from the beginning
 */
export function moveSystemClock(offsetMs: number): void {
  let ahead = offsetMs;
  const real = Date.now;
  // Before anything keeps it: later it may be called by itself.
  const now = () => real() + ahead;
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  onOrder(({ clockOffsetMs }) => {
    if (clockOffsetMs !== undefined) ahead = clockOffsetMs;
  });
}
