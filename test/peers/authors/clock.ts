/** Changes a process's time of day. Loaded before the bot with `--import`. */
import { moveSystemClock } from "../../faults/bot/system-clock.ts";

moveSystemClock(Number(process.env["CLOCK_OFFSET_MS"]));
