/** A bot that gives its handlers no time when it stops, on a clock that runs fast. Tests run it as a process. */
import { setTimeout } from "node:timers/promises";
import { Bot } from "../../src/index.ts";
import { ManualClock } from "../faces/testing.ts";

const clock = new ManualClock();

async function run(): Promise<void> {
  for (;;) {
    await setTimeout(50, undefined, { ref: false });
    await clock.advance(500);
  }
}

void run();
await new Bot({ clock, shutdownGraceMs: 0 }).start();
