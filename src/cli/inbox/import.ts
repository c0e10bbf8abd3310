import type { AttachedInbox } from "../../inbox/attached.ts";
import type { RestoreMark } from "../../inbox/restored.ts";
import { Turns } from "../../inbox/turns.ts";
import { print, printError, printJson } from "../output.ts";
import { count, grouped } from "../text.ts";
import { untilSignal } from "../until-signal.ts";
import { type Arguments, CommandError, readArguments, UsageError } from "../usage.ts";
import { type Action, jsonFlag } from "./action.ts";
import { batches, type Item, readExport, requireFile } from "./export-file.ts";
import { oneOf } from "./filter.ts";
import { type Doubt, isInDoubt, takeDoubt } from "./import-doubt.ts";
import { type Progress, progressOn } from "./progress.ts";

const flags = {
  ...jsonFlag,
  as: { type: "string" },
  "dry-run": { type: "boolean" },
} as const;

/** Takes in what an export has written. Every line is looked at before the first event is stored. */
export const importEvents: Action = (args) => {
  const given = readArguments(args, flags, { max: 1 });
  const [file] = given.words;
  if (file === undefined) throw new UsageError("Name the file that service-bot inbox export made.");
  const as = oneOf(given, "as", ["pending", "as-is"]) ?? "as-is";
  return async (inbox) => {
    requireFile(file);
    const progress = progressOn(given.flags);
    const stopped = new AbortController();
    void untilSignal().then(() => stopped.abort());
    const read = () => readExport(file, as);
    try {
      const contents = await look(read(), progress, stopped.signal);
      if (given.flags["dry-run"] === true) return await tellOnly(inbox, read(), contents, given);
      await takeDoubt(inbox, contents);
      const stored = await store(inbox, read(), contents, progress, stopped.signal);
      progress.end();
      return await tell(inbox, contents, stored, given);
    } finally {
      progress.end();
    }
  };
};

interface Contents extends Doubt {
  readonly events: number;
  readonly pending: number;
  /** False where the line at the end is missing, or says something else. */
  readonly whole: boolean;
}

async function look(
  items: AsyncIterable<Item>,
  progress: Progress,
  signal: AbortSignal,
): Promise<Contents> {
  let events = 0;
  let pending = 0;
  let doubtful = 0;
  let restored: RestoreMark | undefined;
  let end: number | undefined;
  for await (const item of items) {
    if (signal.aborted) throw new CommandError("stopped: nothing was imported.");
    if ("end" in item) end = item.end;
    else if ("restored" in item) restored = item.restored;
    else {
      events += 1;
      if (isInDoubt(item.event, restored)) doubtful += 1;
      if (item.event.state === "pending") pending += 1;
    }
    progress.show("read", events);
  }
  return { events, pending, doubtful, restored, whole: end === events };
}

interface Stored {
  readonly imported: number;
  readonly known: number;
  readonly pending: number;
}

async function store(
  { transfer }: AttachedInbox,
  items: AsyncIterable<Item>,
  { events }: Contents,
  progress: Progress,
  signal: AbortSignal,
): Promise<Stored> {
  const turns = new Turns();
  let [imported, known, pending] = [0, 0, 0];
  for await (const batch of batches(items)) {
    if (signal.aborted) break;
    const ids = await turns.take(() => transfer.write(batch), signal);
    imported += ids.size;
    known += batch.length - ids.size;
    pending += batch.filter(({ id, state }) => state === "pending" && ids.has(id)).length;
    progress.show("imported", imported + known, events);
  }
  return { imported, known, pending };
}

async function tell(
  { served }: AttachedInbox,
  { events, doubtful, whole }: Contents,
  { imported, known, pending }: Stored,
  { flags: { json } }: Arguments,
): Promise<number> {
  const left = events - imported - known;
  if (json === true) {
    const inDoubt = doubtful > 0 ? { inDoubt: doubtful } : {};
    printJson({ imported, known, pending, whole, ...inDoubt, ...(left > 0 ? { left } : {}) });
  } else {
    print(`imported: ${count(imported, "event")}`);
    if (known > 0) print(`passed over: ${grouped(known)}, whose ids are known`);
    if (pending > 0) {
      const when = (await served()) ? "the bot takes them from here" : "to run when the bot starts";
      print(`pending: ${grouped(pending)} of them, ${when}`);
    }
    noteDoubt(doubtful);
    noteCut(whole);
  }
  if (left === 0) return 0;
  printError(
    `stopped: ${grouped(left)} were not come to; what is imported stays. Run it again for the rest.`,
  );
  return 1;
}

function noteDoubt(doubtful: number): void {
  if (doubtful === 0) return;
  print(
    `in doubt: up to ${grouped(doubtful)}, for the inbox that they are from was restored: the bot looks for what it may have ` +
      "said before it says it",
  );
}

function noteCut(whole: boolean): void {
  if (whole) return;
  printError(
    "the file has not all the events that its last line should count: the export was cut short, or lines were changed",
  );
}

/** Counts what is known: nothing is written. */
async function tellOnly(
  { transfer }: AttachedInbox,
  items: AsyncIterable<Item>,
  { events, pending, doubtful, whole }: Contents,
  { flags: { json } }: Arguments,
): Promise<number> {
  let known = 0;
  for await (const batch of batches(items)) {
    known += await transfer.known(batch.map(({ id }) => id));
  }
  const fresh = events - known;
  if (json === true) {
    const inDoubt = doubtful > 0 ? { inDoubt: doubtful } : {};
    printJson({ dryRun: true, events, known, whole, ...inDoubt });
    return 0;
  }
  print(`would be imported: ${count(fresh, "event")}; nothing was changed`);
  if (known > 0) print(`would be passed over: ${grouped(known)}, whose ids are known`);
  if (pending > 0) print(`pending among them all: ${grouped(pending)}`);
  noteDoubt(doubtful);
  noteCut(whole);
  return 0;
}
