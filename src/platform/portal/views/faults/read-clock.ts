import { control } from "../../api/control.ts";
import type { ReadClock } from "./clock.ts";

/** Reads the platform's clock, with when that was. */
export async function readClock(): Promise<ReadClock> {
  const view = await control.clock();
  return { view, readAt: Date.now() };
}
