/** A bot that stops without a grace period and runs on a manual clock. Tests run this file as a process. */
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
