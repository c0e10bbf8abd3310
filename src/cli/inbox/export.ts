import { once } from "node:events";
import { closeSync, createWriteStream, fsyncSync, openSync, rmSync } from "node:fs";
import type { Writable } from "node:stream";
import { hasCode, messageOf } from "../../errors.ts";
import { eventStates } from "../../inbox/records.ts";
import type { Transfer, TransferFilter } from "../../inbox/transfer.ts";
import { printError, printJson } from "../output.ts";
import { count } from "../text.ts";
import { untilSignal } from "../until-signal.ts";
import { type Arguments, CommandError, readArguments, textFlag, UsageError } from "../usage.ts";
import { type Action, jsonFlag } from "./action.ts";
import { endLine, eventLine, headerLine } from "./event-line.ts";
import { filterFlags, filterIn } from "./filter.ts";
import { progressOn } from "./progress.ts";

const flags = {
  ...filterFlags,
  ...jsonFlag,
  state: { type: "string" },
  out: { type: "string" },
} as const;

/** Writes events with everything about them, one on each line. */
export const exportEvents: Action = (args) => {
  const given = readArguments(args, flags, { max: 0 });
  const filter = { ...filterIn(given), state: stateIn(given) };
  const out = textFlag(given, "out") ?? "-";
  if (out === "") throw new UsageError("--out takes a file, or - for standard output.");
  if (out === "-" && given.flags.json === true) {
    throw new UsageError("--json tells what was exported, and needs --out FILE for the events.");
  }
  return async ({ transfer }) => {
    const progress = progressOn(given.flags);
    const stopped = new AbortController();
    void untilSignal().then(() => stopped.abort());
    const job: Job = {
      transfer,
      filter,
      signal: stopped.signal,
      onProgress: (done, of) => progress.show("exported", done, of),
    };
    const done = out === "-" ? writeTo(process.stdout, job) : writeFile(out, job);
    const n = await done.finally(progress.end);
    if (given.flags.json === true) printJson({ events: n, file: out });
    else printError(`exported: ${count(n, "event")}${out === "-" ? "" : ` to ${out}`}`);
    return 0;
  };
};

interface Job {
  readonly transfer: Transfer;
  readonly filter: TransferFilter;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, of: number) => void;
}

function stateIn(given: Arguments): TransferFilter["state"] {
  const state = textFlag(given, "state") ?? "all";
  const known = eventStates.find((one) => one === state);
  if (known !== undefined || state === "all") return known;
  throw new UsageError(`--state takes one of ${eventStates.join(", ")}, all (got "${state}").`);
}

/** Only whoever runs this may read the file: people's messages are in it. What is not whole does not stay. */
async function writeFile(file: string, job: Job): Promise<number> {
  const descriptor = openNew(file);
  try {
    const stream = createWriteStream(file, { fd: descriptor, autoClose: false });
    const n = await writeTo(stream, job);
    stream.end();
    await once(stream, "finish");
    fsyncSync(descriptor);
    return n;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function openNew(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    if (hasCode(error, "EEXIST")) {
      throw new CommandError(
        `${file} is there already, and is not overwritten: name another file.`,
      );
    }
    throw new CommandError(`${file} cannot be made: ${messageOf(error)}`);
  }
}

async function writeTo(stream: Writable, job: Job): Promise<number> {
  // Kept apart from what the store makes of it.
  let broken: unknown;
  stream.once("error", (error) => {
    broken ??= error;
  });
  const write = async (lines: readonly string[]) => {
    try {
      job.signal.throwIfAborted();
      if (broken !== undefined) throw broken;
      const text = lines.map((line) => `${line}\n`).join("");
      if (!stream.write(text)) await once(stream, "drain", { signal: job.signal });
    } catch (error) {
      broken ??= error;
      throw error;
    }
  };
  try {
    return await writeAll(write, job);
  } catch (error) {
    if (job.signal.aborted) throw new CommandError("stopped: what was written is not whole.");
    if (hasCode(broken, "EPIPE")) throw new CommandError("stopped: nobody reads the events.");
    if (broken !== undefined) {
      throw new CommandError(`the events cannot be written: ${messageOf(broken)}`);
    }
    throw error;
  }
}

async function writeAll(
  write: (lines: readonly string[]) => Promise<void>,
  { transfer, filter, onProgress }: Job,
): Promise<number> {
  const of = await transfer.count(filter);
  let done = 0;
  await write([headerLine(Date.now(), await transfer.mark())]);
  await transfer.read(filter, async (events) => {
    await write(events.map(eventLine));
    done += events.length;
    onProgress(done, Math.max(of, done));
  });
  await write([endLine(done)]);
  return done;
}
