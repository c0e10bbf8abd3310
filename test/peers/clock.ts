/** Loaded before the bot with `--import`, to change the process's time of day. */
import { moveSystemClock } from "../faults/bot/system-clock.ts";

moveSystemClock(Number(process.env["CLOCK_OFFSET_MS"]));
