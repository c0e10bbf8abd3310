import { onOrder } from "./protocol.ts";

/**
 * Changes this process's clock as an administrator changes the machine's. Only the time of day jumps; `performance.now`
 * and timers are unaffected.
 *
 * @param offsetMs initial offset from the real time
 */
export function moveSystemClock(offsetMs: number): void {
  let ahead = offsetMs;
  const real = Date.now;
  // This must run before any module stores a reference to `Date.now`.
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
