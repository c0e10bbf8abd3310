import { statSync } from "node:fs";
import { messageOf } from "../../errors.ts";
import type { RestoreMark } from "../../inbox/restored.ts";
import { TRANSFER_BATCH, type WholeEvent } from "../../inbox/transfer.ts";
import { CommandError } from "../usage.ts";
import { headerProblem, isEnd, readEvent, restoredIn } from "./event-line.ts";
import { badLine, readLines } from "./lines.ts";

/** @throws {CommandError} where it cannot be read twice */
export function requireFile(file: string): void {
  try {
    if (statSync(file).isFile()) return;
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${messageOf(error)}`);
  }
  throw new CommandError(`${file} is no file; what is imported is read twice.`);
}

/** What a line is. */
export type Item =
  | { readonly restored: RestoreMark | undefined }
  | { readonly event: WholeEvent }
  | { readonly end: number };

/** @throws {CommandError} with the number of the line that cannot be used */
export async function* readExport(file: string, as: "pending" | "as-is"): AsyncGenerator<Item> {
  let first = true;
  for await (const { number, value } of readLines(file)) {
    if (first) {
      const problem = headerProblem(value);
      if (problem !== undefined) throw badLine(number, problem);
      first = false;
      yield { restored: restoredIn(value) };
    } else if (isEnd(value)) {
      yield { end: value.events };
    } else {
      const read = readEvent(value);
      if ("problem" in read) throw badLine(number, read.problem);
      yield { event: as === "pending" ? revived(read.event) : read.event };
    }
  }
  if (first) throw new CommandError(`${file} is empty.`);
}

/** As a retry makes it of a dead letter; whatever else there is stays as it is. */
function revived(event: WholeEvent): WholeEvent {
  if (event.state !== "dead" || event.body === undefined) return event;
  return { ...event, state: "pending", attempts: 0, crashes: 0, endedAt: undefined };
}

/** The events in the batches in which they are stored. */
export async function* batches(items: AsyncIterable<Item>): AsyncGenerator<readonly WholeEvent[]> {
  let batch: WholeEvent[] = [];
  for await (const item of items) {
    if (!("event" in item)) continue;
    batch.push(item.event);
    if (batch.length < TRANSFER_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
