import { writeSync } from "node:fs";
import { type BotNote, MARK } from "./settings.ts";

/** Written at once: the next thing that this process does may be to die. */
export function tell(note: BotNote): void {
  writeSync(1, `${MARK}${JSON.stringify(note)}\n`);
}
