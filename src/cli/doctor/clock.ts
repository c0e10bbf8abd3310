import type { Client } from "../../client/client.ts";
import { TOLERANCE_SECONDS } from "../../signature/signature.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, note, fail } = findingsOf("clock");

/** A clock that is kept by NTP is nearer than this, in seconds, also where the answer was slow. */
const KEPT_SECONDS = 10;

const REMEDY = "Let NTP set the clock of this machine.";

/** By the `Date` of the platform's last answer, which has whole seconds; nothing where none has come. */
export function examineClock(client: Client): Finding[] {
  if (client.platformNow() === undefined) return [];
  const seconds = Math.round(client.clockOffsetMs / 1000);
  const away = Math.abs(seconds);
  const what = `the clock is ${away} s ${seconds > 0 ? "behind" : "ahead of"} the platform's`;
  // Two clocks that are each off by a little can still be too far apart for a signature (section 5, rule 7).
  if (away >= TOLERANCE_SECONDS) return [fail(`${what}, so every signature is refused`, REMEDY)];
  if (away < KEPT_SECONDS) return [ok(`the clock is ${away} s from the platform's`)];
  return [note(`${what}; from ${TOLERANCE_SECONDS} s every signature is refused`, REMEDY)];
}
