import { writeFileSync } from "node:fs";
import type { Session } from "node:inspector/promises";
import { basename, join } from "node:path";

/** Sampling interval in µs. */
const INTERVAL = 200;

let session: Session | undefined;

export async function startProfile(): Promise<void> {
  // Load the inspector on demand: every process loads this module, and some of them measure memory.
  const inspector = await import("node:inspector/promises");
  session = new inspector.Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: INTERVAL });
  await session.post("Profiler.start");
}

export async function stopProfile(folder: string): Promise<void> {
  const { profile } = (await session?.post("Profiler.stop")) ?? {};
  const program = basename(process.argv[1] ?? "process", ".ts");
  writeFileSync(join(folder, `${program}-${process.pid}.cpuprofile`), JSON.stringify(profile));
  session?.disconnect();
}
